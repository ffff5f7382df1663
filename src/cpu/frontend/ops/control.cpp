// Plans control flow: lists of steps in the same memory.
#include "cpu/execute/control_steps.h"
#include "cpu/frontend/planner.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The loop's values have memory of their own, which the body's results are copied into unless the body wrote
/// them there.
Result<bool> planLoop(Planner &planner, Operation *op) {
  std::vector<View> carried;
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    TORCHERE_ASSIGN(View initial, planner.view(operand));
    carried.push_back(planner.allocate(value));
    TORCHERE_TRY(planner.emitCopy(initial, carried.back()));
  }
  int64_t begin = planner.beginLoop();
  TORCHERE_ASSIGN(Planner::PlannedRegion condition, planner.planRegion(op->getRegion(0), carried));
  TORCHERE_ASSIGN(Planner::PlannedRegion body, planner.planRegion(op->getRegion(1), carried));
  TORCHERE_ASSIGN(Steps copies, planner.planCopies(body.results, carried));
  for (std::unique_ptr<const Step> &copy : copies)
    body.steps.push_back(std::move(copy));
  planner.endLoop(begin);
  std::vector<View> reads = carried;
  reads.push_back(condition.results[0]);
  planner.emit(
      std::make_unique<LoopStep>(std::move(condition.steps), condition.results[0], std::move(body.steps)),
      reads, carried);
  return true;
}

/// `if` and `case`. Each branch leaves its results in the same memory.
Result<bool> planBranches(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View index, planner.view(op->getOperand(0)));
  std::vector<View> results;
  for (mlir::Value value : op->getResults())
    results.push_back(planner.allocate(value));
  std::vector<Steps> branches;
  for (Region &region : op->getRegions()) {
    TORCHERE_ASSIGN(Planner::PlannedRegion branch, planner.planRegion(region, {}));
    TORCHERE_ASSIGN(Steps copies, planner.planCopies(branch.results, results));
    for (std::unique_ptr<const Step> &copy : copies)
      branch.steps.push_back(std::move(copy));
    branches.push_back(std::move(branch.steps));
  }
  planner.emit(std::make_unique<BranchStep>(index, std::move(branches)), {&index, 1}, results);
  return true;
}

} // namespace

void addControl(PlannerTable &table) {
  table.add("stablehlo.case", planBranches);
  table.add("stablehlo.if", planBranches);
  table.add("stablehlo.while", planLoop);
}

} // namespace torchere::cpu
