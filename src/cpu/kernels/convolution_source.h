// The input as a convolution's kernels read it.
#pragma once

#include "cpu/kernels/convolution.h"

namespace torchere::cpu {

/// Where tap (0, 0) of output (0, 0) lies, and how far apart things are.
struct ConvolutionSource {
  const float *data = nullptr; ///< of image 0, block (or channel) 0
  int64_t imageStride = 0;
  int64_t blockStride = 0;
  int64_t rowStride = 0;      ///< from a row of pixels to the next
  int64_t pixelStride = 0;    ///< from a pixel to the next
  int64_t stride[2] = {1, 1}; ///< of the window: rows and columns
};

/// The input, or a copy in the workspace that has the halo which the plan needs.
BlockedTensor inputWithHalo(const Context &context, const ConvolutionArgs &args);

/// The input itself, or a copy of it in the workspace: with a halo, planes with their padding, or without the
/// pixels that windows of one pixel skip. `plan` is that of a phase if there are several, and the input's
/// halo is then wide enough.
ConvolutionSource findSource(const Context &context, const ConvolutionArgs &args,
                             const ConvolutionPlan &plan);

} // namespace torchere::cpu
