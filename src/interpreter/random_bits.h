// The counter-based generators of rng_bit_generator; their numbers are laid out as by XLA's plugins.
#pragma once

#include "interpreter/value.h"

namespace torchere::interpreter {

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
