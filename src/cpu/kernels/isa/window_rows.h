// Rows of windows on blocked pixels: taps that lie side by side, and pixels that several outputs read.
#pragma once

#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {

/// Adds `kTaps` taps that lie side by side to the sums of `kCount` outputs, whose windows begin `kStep`
/// pixels apart. take(pixel) is the vector of a pixel, which is taken once for all outputs that read it.
template <int kTaps, int kStep, int kCount, class Take>
TORCHERE_INLINE void addWindowRow(const float *row, const float *weights, F (&sums)[kCount], Take take) {
  F weight[kTaps];
#pragma GCC unroll 8
  for (int tap = 0; tap < kTaps; ++tap)
    weight[tap] = load(weights + tap * kLanes);
#pragma GCC unroll 24
  for (int column = 0; column < (kCount - 1) * kStep + kTaps; ++column) {
    F taken = take(row + column * kLanes);
#pragma GCC unroll 8
    for (int tap = 0; tap < kTaps; ++tap)
      if (int at = column - tap; at >= 0 && at % kStep == 0 && at / kStep < kCount)
        sums[at / kStep] += taken * weight[tap];
  }
}

} // namespace torchere::cpu::TORCHERE_ISA
