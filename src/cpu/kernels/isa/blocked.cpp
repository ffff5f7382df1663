// Depthwise convolution and pooling of a row of blocked pixels.
#include "cpu/kernels/isa/activation.h"
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int kPixels = 6; ///< as many sums as hide the latency of a multiply-add

/// join(sum, vector, tap) over all taps for kCount pixels from x on.
template <int kCount, class Join>
TORCHERE_INLINE void gatherTaps(const TapsJob &job, int64_t x, F (&sums)[kPixels], Join join) {
  for (int64_t tap = 0; tap < job.tapCount; ++tap) {
    const float *p = job.input + job.taps[tap] + x * job.step;
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i)
      sums[i] = join(sums[i], load(p + i * job.step), tap);
  }
}

/// put(pixel, sum) for every pixel of the row.
template <class Join, class Put>
TORCHERE_INLINE void eachPixel(const TapsJob &job, F start, Join join, Put put) {
  int64_t x = 0;
  F sums[kPixels];
  for (; x + kPixels <= job.pixels; x += kPixels) {
    for (F &sum : sums)
      sum = start;
    gatherTaps<kPixels>(job, x, sums, join);
    for (int i = 0; i < kPixels; ++i)
      put(x + i, sums[i]);
  }
  for (; x < job.pixels; ++x) {
    sums[0] = start;
    gatherTaps<1>(job, x, sums, join);
    put(x, sums[0]);
  }
}

void depthwise(const TapsJob &job) {
  F start = job.bias ? load(job.bias) : F{};
  withActivation(job.activation, [&](auto fn) {
    eachPixel(
        job, start, [&](F sum, F v, int64_t tap) { return sum + v * load(job.weights + tap * kLanes); },
        [&](int64_t x, F sum) {
          if (job.residual)
            sum += load(job.residual + x * kLanes);
          store(job.output + x * kLanes, fn(sum));
        });
  });
}

void maxPool(const TapsJob &job) {
  F lowest = splat(0.0f) - kInfinity;
  eachPixel(
      job, lowest, [](F most, F v, int64_t) { return v != v ? v : v > most ? v : most; },
      [&](int64_t x, F most) { store(job.output + x * kLanes, most); });
}

void sumPool(const TapsJob &job) {
  eachPixel(
      job, F{}, [](F sum, F v, int64_t) { return sum + v; },
      [&](int64_t x, F sum) { store(job.output + x * kLanes, sum * job.scale); });
}

} // namespace

void addBlocked(IsaKernels &table) {
  table.depthwise = &depthwise;
  table.maxPool = &maxPool;
  table.sumPool = &sumPool;
}

} // namespace torchere::cpu::TORCHERE_ISA
