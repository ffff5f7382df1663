// The products of pixels with what the taps of a window meet for them, summed for each tap.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int kMostTaps = 4; ///< at once: with two sums each they hide the latency of a multiply-add

/// `kTaps` taps from one on, for the pixels whose taps all lie inside. Rows are summed on their own: the
/// error grows with the number of terms.
template <int kTaps> void sumTaps(const TapSumsJob &job, int64_t first) {
  const int64_t step = job.step * kLanes, tapStep = job.tapStep * kLanes;
  float *sums = job.sums + first * kLanes;
  for (int64_t row = 0; row < job.rows; ++row) {
    const float *pixel = job.pixels + row * job.pixelsRowStride + job.begin * kLanes;
    const float *input = job.input + row * job.inputRowStride +
                         (job.firstColumn + first * job.tapStep) * kLanes + job.begin * step;
    F parts[2][kTaps] = {};
    int64_t x = job.begin;
    for (; x + 2 <= job.end; x += 2, pixel += 2 * kLanes, input += 2 * step)
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        F v = load(pixel + i * kLanes);
#pragma GCC unroll 4
        for (int t = 0; t < kTaps; ++t)
          parts[i][t] += v * load(input + i * step + t * tapStep);
      }
    if (x < job.end) {
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

/// Pixels [begin, end), of whose taps some lie outside.
void sumEdge(const TapSumsJob &job, int64_t begin, int64_t end) {
  for (int64_t row = 0; row < job.rows; ++row)
    for (int64_t x = begin; x < end; ++x) {
      F v = load(job.pixels + row * job.pixelsRowStride + x * kLanes);
      for (int64_t t = 0; t < job.taps; ++t) {
        int64_t column = x * job.step + t * job.tapStep + job.firstColumn;
        if (column < job.low || column >= job.high)
          continue;
        float *sum = job.sums + t * kLanes;
        store(sum, load(sum) + v * load(job.input + row * job.inputRowStride + column * kLanes));
      }
    }
}

void tapSums(const TapSumsJob &job) {
  sumEdge(job, 0, job.begin);
  int64_t t = 0;
  for (; job.begin < job.end && t + kMostTaps <= job.taps; t += kMostTaps)
    sumTaps<kMostTaps>(job, t);
  if (int64_t rest = job.begin < job.end ? job.taps - t : 0; rest == 3)
    sumTaps<3>(job, t);
  else if (rest == 2)
    sumTaps<2>(job, t);
  else if (rest == 1)
    sumTaps<1>(job, t);
  sumEdge(job, job.end, job.columns);
}

} // namespace

void addTapSums(IsaKernels &table) {
  table.tapSums = &tapSums;
}

} // namespace torchere::cpu::TORCHERE_ISA
