// The counter-based generators of rng_bit_generator; their numbers are laid out as by XLA's plugins.
#pragma once

#include "interpreter/value.h"

#include <array>

namespace torchere::interpreter {

/// Threefry with 20 rounds; counter and key have two words each (Salmon et al., "Parallel random numbers: as
/// easy as 1, 2, 3", 2011).
std::array<uint32_t, 2> threeFry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key);
/// Philox with 10 rounds; the counter has four words, the key two.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct RandomBits {
  std::vector<uint64_t> state;   ///< the next state, as long as the one before
  std::vector<uint64_t> numbers; ///< in row-major order; each has `bits` random bits
};

/// `state` is the key and a counter of one word.
RandomBits threeFryBits(const std::vector<uint64_t> &state, IndexView shape, int bits);
/// `state` is the key and a counter of two words, the lower one first; or a counter of one word, with
/// the key as its upper word.
RandomBits philoxBits(const std::vector<uint64_t> &state, IndexView shape, int bits);

} // namespace torchere::interpreter
