// Implements the layout of random numbers.
#include "interpreter/random_bits.h"

#include "base/random_blocks.h"

#include <algorithm>

namespace torchere::interpreter {

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
    std::array<uint32_t, 2> output = threeFry(wordsOf(counter), wordsOf(state[0]));
    result.numbers.push_back(isPaired ? output[word] : joinedWords(output[0], output[1]));
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
    std::array<uint32_t, 2> lower = wordsOf(low + step), upper = wordsOf(high + (low + step < low ? 1 : 0));
    std::array<uint32_t, 4> output = philox({lower[0], lower[1], upper[0], upper[1]}, wordsOf(state[0]));
    size_t place = number % eachCounter;
    result.numbers.push_back(bits == 64 ? joinedWords(output[2 * place], output[2 * place + 1])
                                        : output[place]);
  }
  uint64_t used = (count + eachCounter - 1) / eachCounter;
  result.state = {state[0], low + used};
  if (state.size() > 2)
    result.state.push_back(high + (low + used < low ? 1 : 0));
  return result;
}

} // namespace torchere::interpreter
