// Plans control flow: lists of steps in the same memory.
#include "base/log.h"
#include "cpu/execute/control_steps.h"
#include "cpu/frontend/comparison.h"
#include "cpu/frontend/fusion/counted_loop.h"
#include "cpu/frontend/loop_program_builder.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The steps of a turn, which leave the loop's values where they were.
Result<Steps> planTurn(Planner &planner, Region &region, const std::vector<View> &carried) {
  TORCHERE_ASSIGN(Planner::PlannedRegion body, planner.planRegion(region, carried));
  TORCHERE_ASSIGN(Steps copies, planner.planCopies(body.results, carried));
  for (std::unique_ptr<const Step> &copy : copies)
    body.steps.push_back(std::move(copy));
  return std::move(body.steps);
}

/// The loop itself writes the counter, so for its body that does not change.
Result<std::unique_ptr<const Step>> planCounted(Planner &planner, stablehlo::WhileOp loop,
                                                const CountedLoop &count, const std::vector<View> &carried,
                                                std::vector<View> &reads) {
  TORCHERE_ASSIGN(View limit, planner.view(count.limit));
  reads.push_back(limit);
  Block &body = loop.getBody().front();
  OpOperand &next = body.getTerminator()->getOpOperand(count.index);
  mlir::Value sum = next.get();
  llvm::scope_exit restore([&] { next.set(sum); });
  next.set(body.getArgument(count.index));
  TORCHERE_ASSIGN(Steps turn, planTurn(planner, loop.getBody(), carried));
  TORCHERE_LOG_LINE(Debug, "cpu", "a loop that counts by {}", count.step);
  LoopCount steps{carried[count.index], limit, comparisonOf<CountComparison>(count.comparison), count.step};
  return std::make_unique<const CountedLoopStep>(steps, std::move(turn));
}

/// The loop's values have memory of their own, which the body's results are copied into unless the body wrote
/// them there.
Result<bool> planLoop(Planner &planner, Operation *op) {
  auto loop = cast<stablehlo::WhileOp>(op);
  if (fitsLoopProgram(loop)) {
    TORCHERE_TRY(planLoopProgram(planner, loop));
    return true;
  }
  auto copy = [&](const View &from, const View &to) { return planner.emitCopy(from, to); };
  TORCHERE_ASSIGN(std::vector<View> carried, planner.carriedViews(op, copy));
  int64_t begin = planner.beginLoop();
  std::vector<View> reads = carried;
  std::unique_ptr<const Step> step;
  if (std::optional<CountedLoop> count = countedLoop(loop)) {
    TORCHERE_ASSIGN(step, planCounted(planner, loop, *count, carried, reads));
  } else {
    TORCHERE_ASSIGN(Planner::PlannedRegion condition, planner.planRegion(loop.getCond(), carried));
    TORCHERE_ASSIGN(Steps body, planTurn(planner, loop.getBody(), carried));
    reads.push_back(condition.results[0]);
    step = std::make_unique<LoopStep>(std::move(condition.steps), condition.results[0], std::move(body));
  }
  planner.endLoop(begin);
  planner.emit(std::move(step), reads, carried);
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
