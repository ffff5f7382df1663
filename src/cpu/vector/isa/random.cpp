// The primitive of Threefry with 20 rounds: blocks of two words of 32 bits, the first in the upper half.
#include "cpu/vector/isa/loops.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// Eight words, two such vectors at a time: a round waits for the one before it.
using Words = VectorOf<uint32_t, 32>::Type;
using Memory = VectorOf<uint32_t, 32>::Unaligned;
constexpr int kVectors = 2, kBlocks = 8 * kVectors;

TORCHERE_INLINE Words rotated(Words x, int count) {
  return x << count | x >> (32 - count);
}

/// The words of eight blocks.
struct Blocks {
  Words first, second;

  TORCHERE_INLINE static Blocks load(const uint64_t *x) {
    Words low = *reinterpret_cast<const Memory *>(x), high = *reinterpret_cast<const Memory *>(x + 4);
    return {__builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15),
            __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14)};
  }
  TORCHERE_INLINE void store(uint64_t *x) const {
    *reinterpret_cast<Memory *>(x) = __builtin_shufflevector(second, first, 0, 8, 1, 9, 2, 10, 3, 11);
    *reinterpret_cast<Memory *>(x + 4) = __builtin_shufflevector(second, first, 4, 12, 5, 13, 6, 14, 7, 15);
  }
};

TORCHERE_INLINE void encrypt(Blocks (&x)[kVectors], const Blocks (&key)[kVectors]) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Words keys[kVectors][3];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    keys[v][0] = key[v].first;
    keys[v][1] = key[v].second;
    keys[v][2] = key[v].first ^ key[v].second ^ 0x1BD11BDAu;
    x[v].first += keys[v][0];
    x[v].second += keys[v][1];
  }
#pragma GCC unroll 5
  for (uint32_t group = 1; group <= 5; ++group) {
#pragma GCC unroll 4
    for (int round = 0; round < 4; ++round)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        x[v].first += x[v].second;
        x[v].second = rotated(x[v].second, rotations[(group - 1) % 2][round]) ^ x[v].first;
      }
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      x[v].first += keys[v][group % 3];
      x[v].second += keys[v][(group + 1) % 3] + group;
    }
  }
}

TORCHERE_INLINE void encryptAt(uint64_t *result, const uint64_t *counters, const uint64_t *keys) {
  Blocks x[kVectors], key[kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    x[v] = Blocks::load(counters + 8 * v);
    key[v] = Blocks::load(keys + 8 * v);
  }
  encrypt(x, key);
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v)
    x[v].store(result + 8 * v);
}

/// result = the block of the counter, by the key.
void threeFry(void *result, const void *counters, const void *keys, const void *, int64_t n) {
  auto *r = static_cast<uint64_t *>(result);
  const auto *x = static_cast<const uint64_t *>(counters), *k = static_cast<const uint64_t *>(keys);
  int64_t i = 0;
  for (; i + kBlocks <= n; i += kBlocks)
    encryptAt(r + i, x + i, k + i);
  if (i == n)
    return;
  uint64_t last[kBlocks] = {}, lastKeys[kBlocks] = {};
  size_t bytes = static_cast<size_t>(n - i) * sizeof(uint64_t);
  memcpy(last, x + i, bytes);
  memcpy(lastKeys, k + i, bytes);
  encryptAt(last, last, lastKeys);
  memcpy(r + i, last, bytes);
}

} // namespace

void addRandom(Primitives &table) {
  table.ops[static_cast<int>(VectorOp::ThreeFry)][kU64] = &threeFry;
}

} // namespace torchere::cpu::TORCHERE_ISA
