// Implements markWeights.
#include "passes/prepare/weight_marks.h"

#include "stablehlo/argument_attributes.h"
#include "stablehlo/module_implementation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::passes {

Status markWeights(stablehlo::Module &module, std::span<const size_t> arguments) {
  if (arguments.empty())
    return {};
  mlir::ModuleOp op = *module.implementation().module;
  auto function = op.lookupSymbol<mlir::func::FuncOp>("main");
  if (!function)
    return invalidArgument("[module] no function to be called: expected @main");
  for (size_t argument : arguments) {
    if (argument >= function.getNumArguments())
      return invalidArgument("[main] no such argument to mark as a weight: got {}, expected less than {}",
                             argument, function.getNumArguments());
    function.setArgAttr(static_cast<unsigned>(argument), stablehlo::weightAttribute,
                        mlir::BoolAttr::get(op.getContext(), true));
  }
  return {};
}

} // namespace torchere::passes
