// RandomBitsStep: random bits from a state, and the state after it.
#pragma once

#include "cpu/kernels/random_bits.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

class RandomBitsStep final : public Step {
public:
  /// Views are dense; both states of two or three integers of 64 bits.
  RandomBitsStep(RandomAlgorithm algorithm, const View &state, const View &next, const View &result)
      : algorithm(algorithm), state(state), next(next), result(result) {}
  Status run(const Frame &frame) const final;

private:
  RandomAlgorithm algorithm;
  View state, next, result;
};

} // namespace torchere::cpu
