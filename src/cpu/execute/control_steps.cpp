// Implements control flow.
#include "cpu/execute/control_steps.h"

#include "cpu/execute/slice_step.h"
#include "cpu/plan/limits.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <set>

namespace torchere::cpu {

void TurnFrame::finish() const {
  for (const Swap &each : swaps)
    if (own->at(each.value) != outer.at(each.value))
      std::memcpy(outer.at(each.value), own->at(each.value),
                  static_cast<size_t>(elementCount(each.value.shape) * each.value.elementSize()));
}

Status LoopStep::run(const Frame &frame) const {
  TurnFrame turns(frame, swaps);
  while (true) {
    TORCHERE_TRY(runSteps(condition, turns.frame()));
    if (integerAt(turns.frame(), predicate) == 0)
      break;
    TORCHERE_TRY(runSteps(body, turns.frame()));
    turns.swap();
  }
  turns.finish();
  return {};
}

Status LoopStep::prepare(const Frame &frame) const {
  TORCHERE_TRY(prepareSteps(condition, frame));
  return prepareSteps(body, frame);
}

void LoopStep::addPackings(std::vector<Packing> &packings) const {
  addPackingsOf(condition, packings);
  addPackingsOf(body, packings);
}

bool LoopStep::packs(BufferId buffer) const {
  return buffer != predicate.buffer && (anyPacks(condition, buffer) || anyPacks(body, buffer));
}

/// The last 64 bits of both numbers; those of the counter's type in their order.
bool CountedLoopStep::goesOn(int64_t counter, int64_t limit) const {
  if (count.counter.type == ElementType::U64) {
    counter ^= std::numeric_limits<int64_t>::min();
    limit ^= std::numeric_limits<int64_t>::min();
  }
  switch (count.comparison) {
  case CountComparison::Equal:
    return counter == limit;
  case CountComparison::NotEqual:
    return counter != limit;
  case CountComparison::Less:
    return counter < limit;
  case CountComparison::LessEqual:
    return counter <= limit;
  case CountComparison::Greater:
    return counter > limit;
  case CountComparison::GreaterEqual:
    return counter >= limit;
  }
  return false;
}

/// The counter is the body's to read. What the body writes into its memory does not count.
Status CountedLoopStep::run(const Frame &frame) const {
  int64_t limit = wordAt(frame, count.limit), counter = wordAt(frame, count.counter);
  std::byte *place = frame.at(count.counter);
  auto size = static_cast<size_t>(count.counter.elementSize());
  TurnFrame turns(frame, swaps);
  while (goesOn(counter, limit)) {
    TORCHERE_TRY(runSteps(body, turns.frame()));
    turns.swap();
    auto next = static_cast<uint64_t>(counter) + static_cast<uint64_t>(count.step);
    std::memcpy(place, &next, size); // little-endian: the low bytes
    counter = wordAt(frame, count.counter);
  }
  turns.finish();
  return {};
}

double CountedLoopStep::turnFlops() const {
  double flops = 0;
  for (const std::unique_ptr<const Step> &step : body)
    flops += step->flops();
  return flops;
}

Status CountedLoopStep::prepare(const Frame &frame) const {
  return prepareSteps(body, frame);
}

void CountedLoopStep::addPackings(std::vector<Packing> &packings) const {
  addPackingsOf(body, packings);
}

bool CountedLoopStep::packs(BufferId buffer) const {
  return buffer != count.limit.buffer && anyPacks(body, buffer);
}

Status ParallelStep::run(const Frame &frame) const {
  auto count = static_cast<int64_t>(loops.size());
  bool haveThreads = isShort || frame.context.pool.threads() <= count;
  if (!haveThreads || frame.recorder || frame.rendezvous)
    return runSteps(loops, frame);
  std::array<Status, mostLoops> done;
  frame.context.pool.parallelFor(count, [&](int64_t loop) {
    auto i = static_cast<size_t>(loop);
    done[i] = loops[i]->run(frame);
  });
  for (Status &status : done)
    TORCHERE_TRY(std::move(status));
  return {};
}

Status ParallelStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expectWithin("loops that run at the same time", {static_cast<int64_t>(loops.size())}, 1,
                            static_cast<int64_t>(mostLoops)));
  return limits.areApart(loops);
}

bool BranchStep::packs(BufferId buffer) const {
  auto isIn = [&](const Steps &branch) { return anyPacks(branch, buffer); };
  return buffer != index.buffer && std::any_of(branches.begin(), branches.end(), isIn);
}

Status BranchStep::prepare(const Frame &frame) const {
  for (const Steps &branch : branches)
    TORCHERE_TRY(prepareSteps(branch, frame));
  return {};
}

void BranchStep::addPackings(std::vector<Packing> &packings) const {
  for (const Steps &branch : branches)
    addPackingsOf(branch, packings);
}

Status BranchStep::run(const Frame &frame) const {
  int64_t chosen = integerAt(frame, index);
  auto last = static_cast<int64_t>(branches.size()) - 1;
  if (isBool(index.type))
    chosen = chosen != 0 ? 0 : 1;
  if (chosen < 0 || chosen > last)
    chosen = last;
  return runSteps(branches[static_cast<size_t>(chosen)], frame);
}

/// No buffer is in two of them.
static Status verifySwaps(const PlanLimits &limits, const std::vector<Swap> &swaps) {
  std::set<BufferId> seen;
  for (const Swap &each : swaps) {
    TORCHERE_TRY(limits.swaps(each.value, each.next));
    bool isNew = seen.insert(each.value.buffer).second && seen.insert(each.next.buffer).second;
    TORCHERE_TRY(expect(isNew, "values that change places: a buffer is in two of them"));
  }
  return {};
}

Status LoopStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(verifySwaps(limits, swaps));
  return limits.readsInteger(predicate);
}

Status CountedLoopStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(verifySwaps(limits, swaps));
  TORCHERE_TRY(limits.readsInteger(count.limit));
  TORCHERE_TRY(limits.readsInteger(count.counter));
  TORCHERE_TRY(limits.writes(count.counter));
  TORCHERE_TRY(expect(count.counter.type == count.limit.type, "a loop that counts {} to a limit of {}",
                      elementTypeInfo(count.counter.type).name, elementTypeInfo(count.limit.type).name));
  return expect(elementTypeInfo(count.counter.type).bits >= 8, "a loop that counts {}",
                elementTypeInfo(count.counter.type).name);
}

Status BranchStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expect(!branches.empty(), "branches: expected at least one"));
  return limits.readsInteger(index);
}

} // namespace torchere::cpu
