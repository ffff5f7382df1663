// keepFloat32Products: sets the precision of products that have none.
#include "passes/precision/products.h"
#include "passes/prepare/plugin_passes.h"

using namespace mlir;

namespace torchere::passes {

void keepFloat32Products(ModuleOp module) {
  auto isFloat32 = [](Value operand) { return stablehlo::elementType(operand.getType()).isF32(); };
  setPrecision(module, stablehlo::Precision::HIGHEST, [&](Operation *product) {
    return isFloat32(product->getOperand(0)) && isFloat32(product->getOperand(1)) &&
           hasDefaultPrecision(product);
  });
}

} // namespace torchere::passes
