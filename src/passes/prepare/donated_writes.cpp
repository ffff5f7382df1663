// keepDonatedWrites: inserts barriers after writes that happen in place.
#include "passes/prepare/plugin_passes.h"
#include "stablehlo/argument_attributes.h"
#include "stablehlo/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace torchere::passes {

/// The value that a partial write modifies; for a select, the value that is kept elsewhere. Null for other
/// ops.
static mlir::Value overwrittenValue(mlir::Operation *op) {
  if (auto update = mlir::dyn_cast_if_present<stablehlo::DynamicUpdateSliceOp>(op))
    return update.getOperand();
  if (auto select = mlir::dyn_cast_if_present<stablehlo::SelectOp>(op))
    return select.getOnFalse();
  auto scatter = mlir::dyn_cast_if_present<stablehlo::ScatterOp>(op);
  return scatter && scatter.getInputs().size() == 1 ? scatter.getInputs().front() : mlir::Value();
}

/// Inserts a barrier after each write on the way from `argument` to `result` that has other readers.
static void keepWrites(mlir::BlockArgument argument, mlir::Value result) {
  llvm::SmallVector<mlir::Operation *> writes;
  mlir::Value value = result;
  while (mlir::Value before = overwrittenValue(value.getDefiningOp())) {
    writes.push_back(value.getDefiningOp());
    value = before;
  }
  if (value != argument)
    return;
  for (mlir::Operation *write : writes) {
    mlir::Value written = write->getResult(0);
    if (written.hasOneUse())
      continue;
    mlir::OpBuilder builder(write->getContext());
    builder.setInsertionPointAfter(write);
    auto barrier = stablehlo::OptimizationBarrierOp::create(builder, write->getLoc(),
                                                            mlir::TypeRange{written.getType()}, written);
    written.replaceAllUsesExcept(barrier->getResult(0), barrier);
  }
}

void keepDonatedWrites(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal())
    return;
  mlir::Operation *end = main.front().getTerminator();
  for (mlir::BlockArgument argument : main.getArguments()) {
    auto number =
        main.getArgAttrOfType<mlir::IntegerAttr>(argument.getArgNumber(), stablehlo::aliasingAttribute);
    if (number && number.getValue().ult(end->getNumOperands()))
      keepWrites(argument, end->getOperand(static_cast<unsigned>(number.getInt())));
  }
}

} // namespace torchere::passes
