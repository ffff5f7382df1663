// The counter-based generators of rng_bit_generator, with the layout of their numbers that XLA's plugins
// have.
#pragma once

#include "interpreter/value.h"

#include <array>

namespace torchere::interpreter {

/// Two words for a counter and a key (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011),
/// with 20 rounds.
std::array<uint32_t, 2> threeFry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key);
/// Four words for a counter and a key, with 10 rounds.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct RandomBits {
  std::vector<uint64_t> state;   ///< the next one, as long as the one before
  std::vector<uint64_t> numbers; ///< in row-major order; each has `bits` random bits
};

/// `state` is the key and a counter of one word.
RandomBits threeFryBits(const std::vector<uint64_t> &state, IndexView shape, int bits);
/// `state` is the key and a counter of two words, the lower one first; or one, which the key then follows.
RandomBits philoxBits(const std::vector<uint64_t> &state, IndexView shape, int bits);

} // namespace torchere::interpreter
