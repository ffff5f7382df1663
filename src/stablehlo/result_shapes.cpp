// The shapes of a module's results, for code that does not use MLIR.
#include "stablehlo/result_shapes.h"

#include "stablehlo/module_implementation.h"
#include "stablehlo/text_of.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::stablehlo {

Result<std::vector<std::vector<int64_t>>> resultShapes(const Module &module) {
  mlir::ModuleOp op = *module.implementation().module;
  auto main = op.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main)
    return invalidArgument("[module] no function to be called: expected @main");
  std::vector<std::vector<int64_t>> shapes;
  for (mlir::Type result : main.getResultTypes()) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(result);
    if (!type || !type.hasStaticShape())
      return invalidArgument("[main] result {} has no static shape: it is {}", shapes.size(), textOf(result));
    shapes.emplace_back(type.getShape().begin(), type.getShape().end());
  }
  return shapes;
}

} // namespace torchere::stablehlo
