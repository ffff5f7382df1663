// markDonations: the attribute on the entry function's arguments, and barriers behind what is written in
// place.
#include "passes/prepare/donation.h"

#include "stablehlo/dialect.h"
#include "stablehlo/module_implementation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace torchere::passes {

/// What a write of some elements starts from: of a select, the value that is kept elsewhere. Null for other
/// ops.
static mlir::Value overwrittenValue(mlir::Operation *op) {
  if (auto update = mlir::dyn_cast_if_present<stablehlo::DynamicUpdateSliceOp>(op))
    return update.getOperand();
  if (auto select = mlir::dyn_cast_if_present<stablehlo::SelectOp>(op))
    return select.getOnFalse();
  auto scatter = mlir::dyn_cast_if_present<stablehlo::ScatterOp>(op);
  return scatter && scatter.getInputs().size() == 1 ? scatter.getInputs().front() : mlir::Value();
}

/// Puts a barrier behind each of the writes that lead from `argument` to `result`, where there are readers.
static void keepWritesWhole(mlir::BlockArgument argument, mlir::Value result) {
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

Status markDonations(stablehlo::Module &module, std::span<const Donation> donations) {
  mlir::ModuleOp op = *module.implementation().module;
  auto function = op.lookupSymbol<mlir::func::FuncOp>("main");
  if (!function)
    return invalidArgument("[module] no function to be called: expected @main");
  mlir::Builder builder(op.getContext());
  for (const Donation &donation : donations) {
    if (donation.argument >= function.getNumArguments() || donation.result >= function.getNumResults())
      return invalidArgument(
          "[main] no such argument and result to donate: got {} and {}, expected less than {} and {}",
          donation.argument, donation.result, function.getNumArguments(), function.getNumResults());
    function.setArgAttr(static_cast<unsigned>(donation.argument), "tf.aliasing_output",
                        builder.getI32IntegerAttr(static_cast<int32_t>(donation.result)));
    if (!function.isExternal())
      keepWritesWhole(function.getArgument(static_cast<unsigned>(donation.argument)),
                      function.front().getTerminator()->getOperand(static_cast<unsigned>(donation.result)));
  }
  return {};
}

} // namespace torchere::passes
