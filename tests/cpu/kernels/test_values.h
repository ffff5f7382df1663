// Values, pools and instruction sets for the kernels' tests.
#pragma once

#include "cpu/kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace torchere::cpu {

inline std::vector<float> randomFloats(int64_t count, uint32_t seed = 1, float scale = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-scale, scale);
  std::vector<float> result(count);
  for (float &x : result)
    x = values(generator);
  return result;
}

/// Aligned as kernels want packed weights and blocked tensors.
template <class T> struct AlignedBuffer {
  explicit AlignedBuffer(int64_t count, T value = T{}) : size(count) {
    data = static_cast<T *>(std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64));
    for (int64_t i = 0; i < count; ++i)
      data[i] = value;
  }
  ~AlignedBuffer() { std::free(data); }
  AlignedBuffer(const AlignedBuffer &) = delete;
  AlignedBuffer &operator=(const AlignedBuffer &) = delete;
  T *data;
  int64_t size;
};

inline float floatOfBF16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float x;
  std::memcpy(&x, &wide, 4);
  return x;
}
inline uint16_t bf16OfFloat(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
inline uint16_t f16OfFloat(float x) {
  _Float16 half = static_cast<_Float16>(x);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}
inline float floatOfF16(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return static_cast<float>(half);
}

/// A test of every instruction set that this processor has, the baseline always.
class EveryIsa : public ::testing::TestWithParam<Isa> {
protected:
  ThreadPool pool{2};
  Context context{pool, GetParam()};
};
#define TORCHERE_EVERY_ISA(Suite)                                                                            \
  INSTANTIATE_TEST_SUITE_P(, Suite, ::testing::ValuesIn(supportedIsas()),                                    \
                           [](const auto &info) { return std::string(isaName(info.param)); })

} // namespace torchere::cpu
