// Branches in the regions of reductions, windows, scatters and sorts, as jax.lax.cond makes them there: all
// are computed, and one is chosen, so that the region is one of elementwise ops.
#include "cpu/frontend/expansion/expansion.h"
#include "stablehlo/dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isScalarTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

/// Whether nothing happens in the branches but that scalars are computed from scalars.
bool areElementwise(Operation *op) {
  return llvm::all_of(op->getRegions(), [](Region &branch) {
    return llvm::hasSingleElement(branch) &&
           llvm::all_of(branch.front().without_terminator(), [](Operation &each) {
             return each.getNumRegions() == 0 && isMemoryEffectFree(&each) &&
                    llvm::all_of(each.getOperands(), isScalarTensor) &&
                    llvm::all_of(each.getResults(), isScalarTensor);
           });
  });
}

/// The results of each branch, whose ops come in front of the op.
SmallVector<SmallVector<Value>> hoistBranches(Operation *op) {
  SmallVector<SmallVector<Value>> results;
  for (Region &branch : op->getRegions()) {
    Operation *end = branch.front().getTerminator();
    results.emplace_back(end->getOperands());
    for (Operation &each : llvm::make_early_inc_range(branch.front().without_terminator()))
      each.moveBefore(op);
  }
  return results;
}

/// Whether the index is `number`.
Value isNumber(OpBuilder &builder, Value index, int64_t number) {
  auto type = cast<RankedTensorType>(index.getType());
  auto element = builder.getIntegerAttr(type.getElementType(), number);
  Value constant =
      stablehlo::ConstantOp::create(builder, index.getLoc(), DenseElementsAttr::get(type, element));
  auto attribute =
      stablehlo::ComparisonDirectionAttr::get(builder.getContext(), stablehlo::ComparisonDirection::EQ);
  OperationState state(index.getLoc(), "stablehlo.compare", {index, constant},
                       {RankedTensorType::get({}, builder.getI1Type())},
                       builder.getNamedAttr("comparison_direction", attribute));
  return builder.create(state)->getResult(0);
}

/// An index that is none selects the last branch.
void choose(Operation *op) {
  SmallVector<SmallVector<Value>> branches = hoistBranches(op);
  OpBuilder builder(op);
  Value index = op->getOperand(0);
  bool isBool = isa<stablehlo::IfOp>(op); // true selects the first
  SmallVector<Value> chosen = branches.pop_back_val();
  while (!branches.empty()) {
    SmallVector<Value> first = branches.pop_back_val();
    Value isFirst = isBool ? index : isNumber(builder, index, static_cast<int64_t>(branches.size()));
    for (auto [value, other] : llvm::zip_equal(chosen, first))
      value = stablehlo::SelectOp::create(builder, op->getLoc(), value.getType(), isFirst, other, value);
  }
  op->replaceAllUsesWith(chosen);
  op->erase();
}

} // namespace

void expandRegionBranches(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) { // inner ones first
    bool isIn = isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ScatterOp,
                    stablehlo::SelectAndScatterOp, stablehlo::SortOp>(op);
    if (isIn)
      op->getRegion(0).walk([&](Operation *inner) {
        if (isa<stablehlo::IfOp, stablehlo::CaseOp>(inner))
          found.push_back(inner);
      });
  });
  for (Operation *op : found)
    if (areElementwise(op))
      choose(op);
}

} // namespace torchere::cpu
