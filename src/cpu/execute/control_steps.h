// Control flow: steps that run lists of steps, in the same memory.
#pragma once

#include "cpu/plan/plan.h"

#include <optional>
#include <tuple>
#include <utility>

namespace torchere::cpu {

/// A loop's value and what the body computes as its next one: both whole buffers of one size. After a turn
/// they change places, in a frame of the loop's own.
struct Swap {
  View value, next;
};

/// The frame of a loop's turns.
class TurnFrame {
public:
  TurnFrame(const Frame &outer, const std::vector<Swap> &swaps) : outer(outer), swaps(swaps) {
    if (!swaps.empty())
      own.emplace(outer);
  }
  const Frame &frame() const { return own ? *own : outer; }
  /// After a turn.
  void swap() {
    for (const Swap &each : swaps)
      std::swap(own->memory[each.value.buffer], own->memory[each.next.buffer]);
  }
  /// After the last one: values are copied to where the program expects them.
  void finish() const;

private:
  const Frame &outer;
  const std::vector<Swap> &swaps;
  std::optional<Frame> own;
};

class LoopStep final : public StoredStep<LoopStep> {
public:
  LoopStep(Steps condition, View predicate, Steps body, std::vector<Swap> swaps)
      : condition(std::move(condition)), predicate(std::move(predicate)), body(std::move(body)),
        swaps(std::move(swaps)) {}
  LoopStep() = default;
  static auto fields(auto &step) { return std::tie(step.condition, step.predicate, step.body, step.swaps); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "loop"; }
  bool packs(BufferId buffer) const final;
  Status prepare(const Frame &frame) const final;
  void addPackings(std::vector<Packing> &packings) const final;

private:
  Steps condition;
  View predicate; ///< one bool
  Steps body;
  std::vector<Swap> swaps;
};

enum class CountComparison : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

/// What a loop counts by: it goes on as long as `counter` compares so with `limit`.
struct LoopCount {
  View counter; ///< one integer; the loop alone needs it to be written
  View limit;   ///< likewise of that type, which stays the same
  CountComparison comparison = CountComparison::Less;
  int64_t step = 1; ///< added to the counter after each turn, modulo its size
};

/// A loop whose condition takes no steps.
class CountedLoopStep final : public StoredStep<CountedLoopStep> {
public:
  CountedLoopStep(const LoopCount &count, Steps body, std::vector<Swap> swaps)
      : count(count), body(std::move(body)), swaps(std::move(swaps)) {}
  CountedLoopStep() = default;
  static auto fields(auto &step) { return std::tie(step.count, step.body, step.swaps); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "loop"; }
  /// Of the steps of a turn.
  double turnFlops() const;
  bool packs(BufferId buffer) const final;
  Status prepare(const Frame &frame) const final;
  void addPackings(std::vector<Packing> &packings) const final;

private:
  bool goesOn(int64_t counter, int64_t limit) const;

  LoopCount count;
  Steps body;
  std::vector<Swap> swaps;
};

/// Loops of which none writes what another one touches: each runs on a thread of its own.
class ParallelStep final : public StoredStep<ParallelStep> {
public:
  /// More are refused.
  static constexpr size_t mostLoops = 8;

  /// `isShort`: the steps of a turn are too short to have parts for several threads.
  ParallelStep(Steps loops, bool isShort) : loops(std::move(loops)), isShort(isShort) {}
  ParallelStep() = default;
  static auto fields(auto &step) { return std::tie(step.loops, step.isShort); }
  Status restore(const PlanLimits &limits);
  /// One loop after the other where these have more threads than there are loops, where a run is measured and
  /// where it meets other processes, which it does in the order of its steps. Results are the same.
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "parallel loops"; }
  bool packs(BufferId buffer) const final { return anyPacks(loops, buffer); }
  Status prepare(const Frame &frame) const final { return prepareSteps(loops, frame); }
  void addPackings(std::vector<Packing> &packings) const final { addPackingsOf(loops, packings); }

private:
  Steps loops;
  bool isShort = false;
};

/// Of an `if` or a `case`.
class BranchStep final : public StoredStep<BranchStep> {
public:
  /// An index outside selects the last branch; a bool selects the first if it is true.
  BranchStep(View index, std::vector<Steps> branches)
      : index(std::move(index)), branches(std::move(branches)) {}
  BranchStep() = default;
  static auto fields(auto &step) { return std::tie(step.index, step.branches); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "branch"; }
  bool packs(BufferId buffer) const final;
  Status prepare(const Frame &frame) const final;
  void addPackings(std::vector<Packing> &packings) const final;

private:
  View index;
  std::vector<Steps> branches;
};

} // namespace torchere::cpu
