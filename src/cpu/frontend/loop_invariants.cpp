// Implements freeLoopInvariants: the inner loops first, whose results may be what an outer one hands on.
#include "cpu/frontend/loop_invariants.h"

#include "stablehlo/dialect.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

llvm::BitVector invariantsOf(stablehlo::WhileOp loop) {
  Block &body = loop.getBody().front();
  llvm::BitVector invariants(loop->getNumOperands());
  for (auto [index, next] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (next == body.getArgument(static_cast<unsigned>(index)) &&
        loop->getResult(static_cast<unsigned>(index)).getType() ==
            loop->getOperand(static_cast<unsigned>(index)).getType())
      invariants.set(static_cast<unsigned>(index));
  return invariants;
}

/// What the condition compares with is then the same value in each turn.
void freeConstants(stablehlo::WhileOp loop) {
  for (Operation &op : llvm::make_early_inc_range(loop.getCond().front().without_terminator()))
    if (isa<stablehlo::ConstantOp>(op))
      op.moveBefore(loop);
}

void freeInvariants(stablehlo::WhileOp loop) {
  freeConstants(loop);
  llvm::BitVector invariants = invariantsOf(loop);
  if (invariants.none())
    return;
  SmallVector<mlir::Value> carried;
  SmallVector<mlir::Value> results;
  for (unsigned index = 0; index < loop->getNumOperands(); ++index) {
    mlir::Value initial = loop->getOperand(index);
    if (!invariants.test(index)) {
      carried.push_back(initial);
      results.push_back(loop->getResult(index));
      continue;
    }
    for (Region &region : loop->getRegions())
      region.getArgument(index).replaceAllUsesWith(initial);
    loop->getResult(index).replaceAllUsesWith(initial);
  }
  loop.getBody().front().getTerminator()->eraseOperands(invariants);
  for (Region &region : loop->getRegions())
    region.front().eraseArguments(invariants);
  OperationState state(loop.getLoc(), loop->getName(), carried, ValueRange(results).getTypes(),
                       loop->getAttrs());
  for (Region &region : loop->getRegions())
    state.addRegion()->takeBody(region);
  Operation *made = OpBuilder(loop).create(state);
  for (auto [old, value] : llvm::zip_equal(results, made->getResults()))
    old.replaceAllUsesWith(value);
  loop->erase();
}

} // namespace

void freeLoopInvariants(func::FuncOp function) {
  SmallVector<stablehlo::WhileOp> loops;
  function.walk([&](stablehlo::WhileOp loop) { loops.push_back(loop); });
  for (stablehlo::WhileOp loop : loops)
    freeInvariants(loop);
}

} // namespace torchere::cpu
