// Values, pools and instruction sets for the kernels' tests.
#pragma once

#include "cpu/kernels/epilogue.h"
#include "cpu/kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
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
#ifdef __aarch64__
using Half = __fp16; // gcc 12 has no _Float16 there in C++
#else
using Half = _Float16;
#endif
inline uint16_t f16OfFloat(float x) {
  Half half = static_cast<Half>(x);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}
inline float floatOfF16(uint16_t bits) {
  Half half;
  std::memcpy(&half, &bits, 2);
  return static_cast<float>(half);
}

inline double activated(Activation activation, double x) {
  double sixth = std::clamp(x + 3, 0.0, 6.0);
  switch (activation) {
  case Activation::None:
    return x;
  case Activation::Relu:
    return std::max(x, 0.0);
  case Activation::Relu6:
    return std::clamp(x, 0.0, 6.0);
  case Activation::Gelu:
    return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
  case Activation::GeluTanh:
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case Activation::Silu:
    return x / (1 + std::exp(-x));
  case Activation::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case Activation::Tanh:
    return std::tanh(x);
  case Activation::HardSwish:
    return x * sixth / 6;
  case Activation::HardSigmoid:
    return sixth / 6;
  }
  return x;
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
