// WordHash: a 128-bit hash of a sequence of words, the same in every process.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace torchere::program {

/// Fast, and not secure against deliberate collisions.
class WordHash {
public:
  void add(uint64_t word) {
    high = mix(high ^ word, 0x9e3779b97f4a7c15);
    low = mix(low + word, 0xd6e8feb86659fd93);
  }
  /// The length, then the bytes.
  void add(std::string_view text) {
    add(text.size());
    for (; !text.empty(); text.remove_prefix(std::min<size_t>(text.size(), 8))) {
      uint64_t word = 0;
      std::memcpy(&word, text.data(), std::min<size_t>(text.size(), 8));
      add(word);
    }
  }
  std::array<uint64_t, 2> value() const { return {high, low}; }

private:
  /// The two halves of the product, folded.
  static uint64_t mix(uint64_t left, uint64_t right) {
    __uint128_t product = static_cast<__uint128_t>(left) * right;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  uint64_t high = 0xa0761d6478bd642f;
  uint64_t low = 0xe7037ed1a0b428db;
};

} // namespace torchere::program
