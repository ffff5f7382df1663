// keepFloat32Products: sets the precision of products that have none.
#include "passes/prepare/plugin_passes.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace torchere::passes {

/// Whether no operand has a precision of its own: absent and DEFAULT mean the same.
static bool hasDefaultPrecision(std::optional<ArrayAttr> config) {
  return !config || llvm::all_of(*config, [](Attribute each) {
    return cast<stablehlo::PrecisionAttr>(each).getValue() == stablehlo::Precision::DEFAULT;
  });
}

/// For each kind of product; a dot that names its algorithm says more than a precision could.
template <class Product> static void setPrecision(Product product) {
  if constexpr (requires { product.getAlgorithm(); })
    if (product.getAlgorithm())
      return;
  auto isFloat32 = [](Value operand) { return stablehlo::elementType(operand.getType()).isF32(); };
  if (!isFloat32(product.getLhs()) || !isFloat32(product.getRhs()) ||
      !hasDefaultPrecision(product.getPrecisionConfig()))
    return;
  auto highest = stablehlo::PrecisionAttr::get(product.getContext(), stablehlo::Precision::HIGHEST);
  product.setPrecisionConfigAttr(ArrayAttr::get(product.getContext(), {highest, highest}));
}

void keepFloat32Products(ModuleOp module) {
  module.walk([](Operation *op) {
    llvm::TypeSwitch<Operation *, void>(op)
        .Case<stablehlo::DotOp, stablehlo::DotGeneralOp, stablehlo::ConvolutionOp, stablehlo::DynamicConvOp>(
            [](auto product) { setPrecision(product); });
  });
}

} // namespace torchere::passes
