// Sums of elements at several computed places of a tensor, each times its weight, as grids are sampled.
#pragma once

#include "cpu/kernels/indexed_slices.h"
#include "cpu/kernels/interpolation.h"

namespace torchere::cpu {

/// Of slices that areColumns(): their tensor is the output. `slices.indices` is not read, but the places of
/// each tap, in the same strides, and a weight for each slice. Places are clamped so that they lie inside.
struct GatheredSumArgs {
  IndexedSlices slices;
  int64_t tapCount = 0; ///< from 1 to kMaxInterpolationTaps
  InterpolationTap taps[kMaxInterpolationTaps];
  const float *tensor = nullptr;
  float *output = nullptr;
};
void sumGathered(const Context &context, const GatheredSumArgs &args);

} // namespace torchere::cpu
