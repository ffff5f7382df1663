// Sums of elements at several computed places of a tensor, each times its weight, as grids are sampled.
#pragma once

#include "cpu/kernels/indexed_slices.h"
#include "cpu/kernels/interpolation.h"

namespace torchere::cpu {

/// Of slices that areColumns(): their tensor is the output. `slices.indices` is not read, but those of each
/// tap, in the same strides. Places are clamped so that they lie inside.
struct GatheredSumArgs {
  IndexedSlices slices;
  int64_t tapCount = 0; ///< from 1 to kMaxInterpolationTaps
  struct Tap {
    const void *indices = nullptr;
    const float *weights = nullptr; ///< one a slice, in their order
  } taps[kMaxInterpolationTaps];
  const float *tensor = nullptr;
  float *output = nullptr;
};
void sumGathered(const Context &context, const GatheredSumArgs &args);

} // namespace torchere::cpu
