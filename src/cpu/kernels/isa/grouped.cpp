// Rows of a convolution with narrow groups.
#include "cpu/kernels/grouped_rows.h"
#include "cpu/kernels/isa/activation.h"
#include "cpu/kernels/isa/window_rows.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// As many sums as hide the latency of a multiply-add, and leave registers for the weights of a window's row.
constexpr int kPixels = 8;
constexpr int kWindow = 3; ///< taps of a row of windows, the common ones

/// The lanes of these numbers; zeros where one is negative, if that may be.
template <GroupedLanes kKind> TORCHERE_INLINE F takeLanes(const float *pixel, I lanes) {
  if constexpr (kKind == GroupedLanes::Same)
    return splat(pixel[lanes[0]]);
  F v = load(pixel);
#if defined(__AVX512F__)
  __m512 taken = _mm512_permutexvar_ps((__m512i)lanes, (__m512)v);
  return kKind == GroupedLanes::Masked ? (F)_mm512_maskz_mov_ps(_mm512_movepi32_mask(~(__m512i)lanes), taken)
                                       : (F)taken;
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  if constexpr (kKind == GroupedLanes::Near)
    return (F)_mm256_permutevar_ps((__m256)v, (__m256i)lanes);
  __m256 taken = _mm256_permutevar8x32_ps((__m256)v, (__m256i)lanes);
  return kKind == GroupedLanes::Masked ? (F)_mm256_and_ps(taken, (__m256)(lanes >= 0)) : (F)taken;
#else
  F taken{};
  for (int i = 0; i < kLanes; ++i)
    taken[i] = lanes[i] < 0 ? 0 : v[lanes[i]];
  return taken;
#endif
}

/// Of `kCount` pixels, each `kStep` vectors after the one before; 0: as far as the job says.
template <GroupedLanes kKind, int kTaps, int kStep, int kCount>
void sumPixels(const GroupedJob &job, const float *first, F *output) {
  F sums[kCount];
#pragma GCC unroll 8
  for (F &sum : sums)
    sum = output[0];
  const float *step = job.steps;
  for (int64_t i = 0; i < job.stepCount; ++i) {
    I lanes = asInt(load(step));
    int64_t block = asInt(load(step + kLanes))[0];
    const float *input = first + block * job.blockStride;
    step += kGroupedHeader * kLanes;
    for (int64_t tap = 0; tap < job.tapCount; tap += kTaps, step += kTaps * kLanes) {
      const float *row = input + job.taps[tap];
      if constexpr (kStep > 0) {
        addWindowRow<kTaps, kStep>(row, step, sums, [&](const float *pixel) __attribute__((always_inline)) {
          return takeLanes<kKind>(pixel, lanes);
        });
      } else {
        F weight = load(step);
#pragma GCC unroll 8
        for (int p = 0; p < kCount; ++p)
          sums[p] += takeLanes<kKind>(row + p * job.step, lanes) * weight;
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kCount; ++p)
    output[p] = sums[p];
}

using SumFunction = void (*)(const GroupedJob &job, const float *first, F *output);
/// By the number of pixels.
template <GroupedLanes kKind, int kTaps, int kStep, int... kCounts> struct Sums {
  static constexpr SumFunction functions[] = {nullptr, sumPixels<kKind, kTaps, kStep, kCounts>...};
};
template <GroupedLanes kKind> const SumFunction *sumFunctions(const GroupedJob &job) {
  if (job.tapsTogether == kWindow && job.step == kLanes)
    return Sums<kKind, kWindow, 1, 1, 2, 3, 4, 5, 6, 7, 8>::functions;
  if (job.tapsTogether == kWindow && job.step == 2 * kLanes)
    return Sums<kKind, kWindow, 2, 1, 2, 3, 4, 5, 6, 7, 8>::functions;
  return Sums<kKind, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8>::functions;
}
const SumFunction *sumFunctions(const GroupedJob &job) {
  switch (job.lanes) {
  case GroupedLanes::Masked:
    return sumFunctions<GroupedLanes::Masked>(job);
  case GroupedLanes::Any:
    return sumFunctions<GroupedLanes::Any>(job);
  case GroupedLanes::Near:
    return sumFunctions<GroupedLanes::Near>(job);
  case GroupedLanes::Same:
    return sumFunctions<GroupedLanes::Same>(job);
  }
  return nullptr;
}

} // namespace

void groupedRows(const GroupedJob &job) {
  F start = job.bias ? load(job.bias) : F{};
  const SumFunction *functions = sumFunctions(job);
  int64_t tiles = (job.pixels + kPixels - 1) / kPixels;
  withActivation(job.activation, [&](auto fn) {
    for (int64_t row = 0; row < job.rows; ++row) {
      const float *input = job.input + row * job.inputRowStride;
      const float *residual = job.residual ? job.residual + row * job.residualRowStride : nullptr;
      float *output = job.output + row * job.outputRowStride;
      for (int64_t i = 0; i < tiles; ++i) {
        int64_t x = job.pixels * i / tiles, count = job.pixels * (i + 1) / tiles - x;
        F sums[kPixels];
        sums[0] = start;
        functions[count](job, input + x * job.step, sums);
        for (int64_t p = 0; p < count; ++p) {
          F sum = sums[p];
          if (residual)
            sum += load(residual + (x + p) * kLanes);
          store(output + (x + p) * kLanes, fn(sum));
        }
      }
    }
  });
}

} // namespace torchere::cpu::TORCHERE_ISA
