// Plans control flow: lists of steps in the same memory.
#include "base/log.h"
#include "cpu/execute/control_steps.h"
#include "cpu/frontend/comparison.h"
#include "cpu/frontend/fusion/counted_loop.h"
#include "cpu/frontend/loop_program_builder.h"
#include "cpu/frontend/parallel_loops.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Fewer bytes are copied sooner than a loop has a frame of its own.
constexpr int64_t kLeastSwapped = 256;

/// The steps of a turn, which leave the loop's values where they were, but for those that change places with
/// what the turn has computed.
struct Turn {
  Steps steps;
  std::vector<Swap> swaps;
};

Result<Turn> planTurn(Planner &planner, Region &region, const std::vector<View> &carried, int64_t begin) {
  size_t firstNew = planner.bufferCount();
  TORCHERE_ASSIGN(Planner::PlannedRegion body, planner.planRegion(region, carried));
  Turn turn;
  std::vector<View> values, targets;
  llvm::SmallSet<BufferId, 8> swapped;
  for (auto [value, next] : llvm::zip_equal(carried, body.results)) {
    bool isLarge = elementCount(next.shape) * next.elementSize() >= kLeastSwapped;
    if (isLarge && planner.maySwap(value, next, firstNew) && swapped.insert(next.buffer).second) {
      turn.swaps.push_back({value, next});
      planner.useBeforeLoop(next.buffer, begin); // which turn of the two it serves is not known
    } else {
      values.push_back(next);
      targets.push_back(value);
    }
  }
  TORCHERE_ASSIGN(Steps copies, planner.planCopies(values, targets));
  turn.steps = std::move(body.steps);
  for (std::unique_ptr<const Step> &copy : copies)
    turn.steps.push_back(std::move(copy));
  return turn;
}

/// The loop itself writes the counter, so for its body that does not change.
Result<std::unique_ptr<const Step>> planCounted(Planner &planner, stablehlo::WhileOp loop,
                                                const CountedLoop &count, const std::vector<View> &carried,
                                                std::vector<View> &reads, int64_t begin) {
  TORCHERE_ASSIGN(View limit, planner.view(count.limit));
  reads.push_back(limit);
  Block &body = loop.getBody().front();
  OpOperand &next = body.getTerminator()->getOpOperand(count.index);
  mlir::Value sum = next.get();
  llvm::scope_exit restore([&] { next.set(sum); });
  next.set(body.getArgument(count.index));
  TORCHERE_ASSIGN(Turn turn, planTurn(planner, loop.getBody(), carried, begin));
  TORCHERE_LOG_LINE(Debug, "cpu", "a loop that counts by {}", count.step);
  LoopCount steps{carried[count.index], limit, comparisonOf<CountComparison>(count.comparison), count.step};
  return std::make_unique<const CountedLoopStep>(steps, std::move(turn.steps), std::move(turn.swaps));
}

struct PlannedLoop {
  std::vector<View> carried, reads;
  std::unique_ptr<const Step> step;
};

/// The loop's values have memory of their own; that of initial values where mayTake(). What the body computes
/// changes places with it, or is copied into it unless the body wrote it there.
Result<PlannedLoop> planValues(Planner &planner, Operation *loop,
                               llvm::function_ref<bool(BufferId)> mayTake) {
  PlannedLoop planned;
  auto copy = [&](const View &from, const View &to) { return planner.emitCopy(from, to); };
  TORCHERE_ASSIGN(planned.carried, planner.carriedViews(loop, mayTake, copy));
  planned.reads = planned.carried;
  return planned;
}

Status planTurns(Planner &planner, stablehlo::WhileOp loop, int64_t begin, PlannedLoop &planned) {
  const std::vector<View> &carried = planned.carried;
  if (std::optional<CountedLoop> count = countedLoop(loop)) {
    TORCHERE_ASSIGN(planned.step, planCounted(planner, loop, *count, carried, planned.reads, begin));
    return {};
  }
  TORCHERE_ASSIGN(Planner::PlannedRegion condition, planner.planRegion(loop.getCond(), carried));
  TORCHERE_ASSIGN(Turn turn, planTurn(planner, loop.getBody(), carried, begin));
  planned.reads.push_back(condition.results[0]);
  planned.step = std::make_unique<LoopStep>(std::move(condition.steps), condition.results[0],
                                            std::move(turn.steps), std::move(turn.swaps));
  return {};
}

/// Turns with no more operations and bytes have no parts that another thread would take.
constexpr double kMostShortFlops = 1e6;
constexpr int64_t kMostShortBytes = int64_t(512) << 10;

/// All of their values are in use from the first one's begin to the last one's end. None takes memory that
/// one before it touches, nor an argument's, which other arguments may share.
Result<bool> planParallel(Planner &planner, ArrayRef<stablehlo::WhileOp> together) {
  auto firstNew = static_cast<BufferId>(planner.bufferCount());
  int64_t begin = planner.beginLoop();
  Accesses accesses;
  planner.beginAccesses(&accesses);
  llvm::scope_exit end([&] { planner.endAccesses(); });
  auto mayTake = [&](BufferId buffer) {
    return planner.buffer(buffer).home != Home::Argument && !accesses.contains(buffer);
  };
  Steps loops;
  std::vector<View> reads, writes;
  bool isShort = true;
  for (stablehlo::WhileOp loop : together) {
    TORCHERE_ASSIGN(PlannedLoop planned, planValues(planner, loop, mayTake));
    TORCHERE_TRY(planTurns(planner, loop, begin, planned));
    auto &counted = static_cast<const CountedLoopStep &>(*planned.step);
    isShort &= counted.turnFlops() <= kMostShortFlops && turnBytes(loop) <= kMostShortBytes;
    planner.emitInto(loops, loop, std::move(planned.step), planned.reads, planned.carried);
    llvm::append_range(reads, planned.reads);
    llvm::append_range(writes, planned.carried);
  }
  planner.endLoop(begin);
  planner.keepInUse(firstNew, begin);
  TORCHERE_LOG_LINE(Debug, "cpu", "{} loops at the same time, {} of a turn's steps", loops.size(),
                    isShort ? "one thread each" : "parts");
  planner.emit(std::make_unique<ParallelStep>(std::move(loops), isShort), reads, writes);
  return true;
}

Result<bool> planLoop(Planner &planner, Operation *op) {
  auto loop = cast<stablehlo::WhileOp>(op);
  if (op->getNumResults() != 0 && planner.isBound(op->getResult(0))) // with the loop before it
    return true;
  if (SmallVector<stablehlo::WhileOp> loops = loopsBeside(loop); loops.size() > 1)
    return planParallel(planner, loops);
  if (fitsLoopProgram(loop)) {
    TORCHERE_TRY(planLoopProgram(planner, loop));
    return true;
  }
  TORCHERE_ASSIGN(PlannedLoop planned, planValues(planner, op, [](BufferId) { return true; }));
  int64_t begin = planner.beginLoop();
  TORCHERE_TRY(planTurns(planner, loop, begin, planned));
  planner.endLoop(begin);
  planner.emit(std::move(planned.step), planned.reads, planned.carried);
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
