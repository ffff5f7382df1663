// Random bits: from a state, and the state after it; or of the process's own.
#pragma once

#include "cpu/kernels/random_bits.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class RandomBitsStep final : public StoredStep<RandomBitsStep> {
public:
  /// Views are dense; both states of two or three integers of 64 bits.
  RandomBitsStep(RandomAlgorithm algorithm, const View &state, const View &next, const View &result)
      : algorithm(algorithm), state(state), next(next), result(result) {}
  RandomBitsStep() = default;
  static auto fields(auto &step) { return std::tie(step.algorithm, step.state, step.next, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "random bits"; }

private:
  RandomAlgorithm algorithm = RandomAlgorithm::Philox;
  View state, next, result;
};

/// Words that no other run of such a step in the process gives. A process gives the same sequence as another.
class RandomWordsStep final : public StoredStep<RandomWordsStep> {
public:
  explicit RandomWordsStep(const View &result) : result(result) {}
  RandomWordsStep() = default;
  static auto fields(auto &step) { return std::tie(step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "random words"; }

private:
  View result;
};

} // namespace torchere::cpu
