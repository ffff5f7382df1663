// The primitive of Threefry with 20 rounds: blocks of two words of 32 bits, the first in the upper half.
#include "cpu/vector/isa/loops.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

TORCHERE_INLINE U rotated(U x, int count) {
  return x << count | x >> (32 - count);
}

/// Of as many counters and keys as there are lanes.
TORCHERE_INLINE void encrypt(U &first, U &second, U key, U secondKey) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const U keys[3] = {key, secondKey, key ^ secondKey ^ 0x1BD11BDAu};
  first += key;
  second += secondKey;
#pragma GCC unroll 5
  for (uint32_t group = 1; group <= 5; ++group) {
#pragma GCC unroll 4
    for (int round = 0; round < 4; ++round) {
      first += second;
      second = rotated(second, rotations[(group - 1) % 2][round]) ^ first;
    }
    first += keys[group % 3];
    second += keys[(group + 1) % 3] + group;
  }
}

struct Words {
  U lower, upper;
};
TORCHERE_INLINE Words split(const uint64_t *x) {
  uint32_t lower[kLanes], upper[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    lower[i] = static_cast<uint32_t>(x[i]);
    upper[i] = static_cast<uint32_t>(x[i] >> 32);
  }
  Words words;
  memcpy(&words.lower, lower, sizeof(lower));
  memcpy(&words.upper, upper, sizeof(upper));
  return words;
}

/// result = the block of the counter, by the key.
void threeFry(void *result, const void *counters, const void *keys, const void *, int64_t n) {
  auto *r = static_cast<uint64_t *>(result);
  const auto *x = static_cast<const uint64_t *>(counters), *k = static_cast<const uint64_t *>(keys);
  for (int64_t i = 0; i < n; i += kLanes) {
    uint64_t block[2 * kLanes] = {};
    int64_t count = n - i < kLanes ? n - i : kLanes;
    const uint64_t *from = x + i, *key = k + i;
    if (count < kLanes) {
      memcpy(block, from, static_cast<size_t>(count) * sizeof(uint64_t));
      memcpy(block + kLanes, key, static_cast<size_t>(count) * sizeof(uint64_t));
      from = block;
      key = block + kLanes;
    }
    Words words = split(from), keyWords = split(key);
    encrypt(words.upper, words.lower, keyWords.upper, keyWords.lower);
    uint32_t lower[kLanes], upper[kLanes];
    memcpy(lower, &words.lower, sizeof(lower));
    memcpy(upper, &words.upper, sizeof(upper));
    for (int j = 0; j < kLanes; ++j)
      block[j] = lower[j] | uint64_t(upper[j]) << 32;
    memcpy(r + i, block, static_cast<size_t>(count) * sizeof(uint64_t));
  }
}

} // namespace

void addRandom(Primitives &table) {
  table.ops[static_cast<int>(VectorOp::ThreeFry)][kU64] = &threeFry;
}

} // namespace torchere::cpu::TORCHERE_ISA
