// A row of a convolution with narrow groups.
#include "cpu/kernels/grouped_rows.h"
#include "cpu/kernels/isa/activation.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int kPixels = 6; ///< as many sums as hide the latency of a multiply-add

/// The lanes of these numbers; zeros where one is negative.
TORCHERE_INLINE F takeLanes(F v, I lanes) {
#if defined(__AVX512F__)
  return (F)_mm512_maskz_permutexvar_ps(_mm512_movepi32_mask(~(__m512i)lanes), (__m512i)lanes, (__m512)v);
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  __m256 taken = _mm256_permutevar8x32_ps((__m256)v, (__m256i)lanes);
  return (F)_mm256_and_ps(taken, (__m256)(lanes >= 0));
#else
  F taken{};
  for (int i = 0; i < kLanes; ++i)
    taken[i] = lanes[i] < 0 ? 0 : v[lanes[i]];
  return taken;
#endif
}

template <int kCount> TORCHERE_INLINE void sumPixels(const GroupedJob &job, int64_t x, F (&sums)[kPixels]) {
  const float *step = job.steps;
  for (int64_t i = 0; i < job.stepCount; ++i) {
    I lanes = asInt(load(step));
    int64_t block = asInt(load(step + kLanes))[0];
    const float *input = job.input + block * job.blockStride + x * job.step;
    step += kGroupedHeader * kLanes;
    for (int64_t tap = 0; tap < job.tapCount; ++tap, step += kLanes) {
      F weight = load(step);
      const float *pixel = input + job.taps[tap];
#pragma GCC unroll 8
      for (int p = 0; p < kCount; ++p)
        sums[p] += takeLanes(load(pixel + p * job.step), lanes) * weight;
    }
  }
}

} // namespace

void groupedRow(const GroupedJob &job) {
  F start = job.bias ? load(job.bias) : F{};
  withActivation(job.activation, [&](auto fn) {
    auto put = [&](int64_t x, F sum) {
      if (job.residual)
        sum += load(job.residual + x * kLanes);
      store(job.output + x * kLanes, fn(sum));
    };
    int64_t x = 0;
    F sums[kPixels];
    for (; x + kPixels <= job.pixels; x += kPixels) {
      for (F &sum : sums)
        sum = start;
      sumPixels<kPixels>(job, x, sums);
      for (int p = 0; p < kPixels; ++p)
        put(x + p, sums[p]);
    }
    for (; x < job.pixels; ++x) {
      sums[0] = start;
      sumPixels<1>(job, x, sums);
      put(x, sums[0]);
    }
  });
}

} // namespace torchere::cpu::TORCHERE_ISA
