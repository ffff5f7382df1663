// Random bits of counter-based generators, laid out as StableHLO's rng_bit_generator gives them on XLA's
// plugins.
#pragma once

#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

enum class RandomAlgorithm : uint8_t { ThreeFry, Philox };

/// `state` is the key and a counter of one word; Philox may have a counter of two words, the lower first.
/// `next` becomes the state after it.
struct RandomBitsArgs {
  RandomAlgorithm algorithm = RandomAlgorithm::Philox;
  const uint64_t *state = nullptr;
  uint64_t *next = nullptr;
  int stateSize = 2;
  int bits = 32; ///< of an element, at most 64; higher ones in its bytes are zero
  int rank = 0;
  const int64_t *dims = nullptr;
  void *output = nullptr; ///< contiguous
};
void randomBits(const Context &context, const RandomBitsArgs &args);

} // namespace torchere::cpu
