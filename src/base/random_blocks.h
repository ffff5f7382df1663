// The counter-based generators of random bits: blocks of words, each a function of a counter and a key.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace torchere {

/// Threefry with 20 rounds; counter and key have two words each (Salmon et al., "Parallel random numbers: as
/// easy as 1, 2, 3", 2011).
constexpr std::array<uint32_t, 2> threeFry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  uint32_t first = counter[0] + keys[0], second = counter[1] + keys[1];
  for (uint32_t group = 1; group <= 5; ++group) { // of four rounds
    for (int rotation : rotations[(group - 1) % 2]) {
      first += second;
      second = std::rotl(second, rotation) ^ first;
    }
    first += keys[group % 3];
    second += keys[(group + 1) % 3] + group;
  }
  return {first, second};
}

/// Philox with 10 rounds; the counter has four words, the key two.
constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(counter[0]) * 0xD2511F53, odd = uint64_t(counter[2]) * 0xCD9E8D57;
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(even)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

/// The low word, then the high one.
constexpr std::array<uint32_t, 2> wordsOf(uint64_t value) {
  return {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
}

constexpr uint64_t joinedWords(uint32_t low, uint32_t high) {
  return low | uint64_t(high) << 32;
}

} // namespace torchere
