// Sums of several elements along an axis with weights, as linear and cubic resampling take them.
#pragma once

#include "cpu/kernels/thread_pool.h"

namespace torchere::cpu {

constexpr int kMaxInterpolationTaps = 16;

/// One tap of all outputs along the axis.
struct InterpolationTap {
  const void *places = nullptr;   ///< integers, clamped into [0, inputSize - 1] as StableHLO's gather does
  const float *weights = nullptr; ///< as many
};

/// output[o][j][i] = sum over taps of weights[j] * input[o][places[j]][i], of f32.
struct InterpolationArgs {
  int64_t outer = 1;
  int64_t inputSize = 1; ///< at least 1
  int64_t outputSize = 0;
  int64_t inner = 1;
  int64_t placeBytes = 8; ///< 4 or 8
  int64_t tapCount = 0;   ///< from 1 to kMaxInterpolationTaps
  InterpolationTap taps[kMaxInterpolationTaps];
  const float *input = nullptr;
  float *output = nullptr;
};
void interpolate(const Context &context, const InterpolationArgs &args);

} // namespace torchere::cpu
