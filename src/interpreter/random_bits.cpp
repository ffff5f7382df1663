// Implements the counter-based generators.
#include "interpreter/random_bits.h"

#include <algorithm>
#include <bit>

namespace torchere::interpreter {

std::array<uint32_t, 2> threeFry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key) {
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

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(counter[0]) * 0xD2511F53, odd = uint64_t(counter[2]) * 0xCD9E8D57;
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(even)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

static std::array<uint32_t, 2> words(uint64_t value) {
  return {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
}

static uint64_t joined(uint32_t low, uint32_t high) {
  return low | uint64_t(high) << 32;
}

/// The first even dimension, otherwise the largest: neighbours along it are the two words of one counter.
static size_t pairedDimension(IndexView shape) {
  for (size_t dimension = 0; dimension < shape.size(); ++dimension)
    if (shape[dimension] % 2 == 0)
      return dimension;
  return static_cast<size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

RandomBits threeFryBits(const std::vector<uint64_t> &state, IndexView shape, int bits) {
  RandomBits result;
  Index counters(shape.begin(), shape.end());
  bool isPaired = bits < 64;
  size_t paired = isPaired && !shape.empty() ? pairedDimension(shape) : 0;
  if (isPaired && !shape.empty())
    counters[paired] = (shape[paired] + 1) / 2;
  Index at;
  forEachIndex(shape, [&](IndexView index, int64_t) {
    at.assign(index.begin(), index.end());
    size_t word = 0;
    if (isPaired && !shape.empty()) {
      word = static_cast<size_t>(at[paired] % 2);
      at[paired] /= 2;
    }
    uint64_t counter = state[1] + static_cast<uint64_t>(flatten(at, counters));
    std::array<uint32_t, 2> output = threeFry(words(counter), words(state[0]));
    result.numbers.push_back(isPaired ? output[word] : joined(output[0], output[1]));
  });
  result.state = {state[0], state[1] + static_cast<uint64_t>(elementCount(counters))};
  return result;
}

RandomBits philoxBits(const std::vector<uint64_t> &state, IndexView shape, int bits) {
  uint64_t low = state[1], high = state.size() > 2 ? state[2] : state[0];
  auto count = static_cast<uint64_t>(elementCount(shape));
  uint64_t eachCounter = bits == 64 ? 2 : 4; // numbers per counter
  RandomBits result;
  for (uint64_t number = 0; number < count; ++number) {
    uint64_t step = number / eachCounter;
    std::array<uint32_t, 2> lower = words(low + step), upper = words(high + (low + step < low ? 1 : 0));
    std::array<uint32_t, 4> output = philox({lower[0], lower[1], upper[0], upper[1]}, words(state[0]));
    size_t place = number % eachCounter;
    result.numbers.push_back(bits == 64 ? joined(output[2 * place], output[2 * place + 1]) : output[place]);
  }
  uint64_t used = (count + eachCounter - 1) / eachCounter;
  result.state = {state[0], low + used};
  if (state.size() > 2)
    result.state.push_back(high + (low + used < low ? 1 : 0));
  return result;
}

} // namespace torchere::interpreter
