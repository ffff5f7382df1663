// The products of pixels with what the taps of a window meet for them, summed for each tap.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int kMostTaps = 4; ///< at once: with two sums each they hide the latency of a multiply-add

/// `kTaps` taps from one on. Rows are summed on their own: the error grows with the number of terms.
template <int kTaps> void sumTaps(const TapSumsJob &job, int64_t first) {
  const int64_t step = job.step, tapStep = job.tapStep;
  float *sums = job.sums + first * kLanes;
  for (int64_t row = 0; row < job.rows; ++row) {
    const float *pixel = job.pixels + row * job.pixelsRowStride;
    const float *input = job.input + row * job.inputRowStride + first * tapStep;
    F parts[2][kTaps] = {};
    int64_t x = 0;
    for (; x + 2 <= job.columns; x += 2, pixel += 2 * kLanes, input += 2 * step)
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        F v = load(pixel + i * kLanes);
#pragma GCC unroll 4
        for (int t = 0; t < kTaps; ++t)
          parts[i][t] += v * load(input + i * step + t * tapStep);
      }
    if (x < job.columns) {
      F v = load(pixel);
#pragma GCC unroll 4
      for (int t = 0; t < kTaps; ++t)
        parts[0][t] += v * load(input + t * tapStep);
    }
#pragma GCC unroll 4
    for (int t = 0; t < kTaps; ++t)
      store(sums + t * kLanes, load(sums + t * kLanes) + (parts[0][t] + parts[1][t]));
  }
}

void tapSums(const TapSumsJob &job) {
  int64_t t = 0;
  for (; t + kMostTaps <= job.taps; t += kMostTaps)
    sumTaps<kMostTaps>(job, t);
  if (int64_t rest = job.taps - t; rest == 3)
    sumTaps<3>(job, t);
  else if (rest == 2)
    sumTaps<2>(job, t);
  else if (rest == 1)
    sumTaps<1>(job, t);
}

} // namespace

void addTapSums(IsaKernels &table) {
  table.tapSums = &tapSums;
}

} // namespace torchere::cpu::TORCHERE_ISA
