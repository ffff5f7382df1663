// Winograd's convolutions of 3x3: F(2,3) and F(4,3).
#pragma once

#include "cpu/kernels/convolution.h"

namespace torchere::cpu {

/// The points of a tile's transform: 16 or 36; 0 for other kinds.
constexpr int64_t winogradPoints(ConvolutionKind kind) {
  return kind == ConvolutionKind::Winograd4 ? 36 : kind == ConvolutionKind::Winograd2 ? 16 : 0;
}

/// The one that pays for a shape, or Direct.
ConvolutionKind winogradKind(const ConvolutionShape &shape);

int64_t winogradWorkspaceBytes(const ConvolutionPlan &plan);
void packWinograd(const Context &context, const ConvolutionPlan &plan, const float *weights,
                  const int64_t (&strides)[5], float *packed);
void convolveWinograd(const Context &context, const ConvolutionArgs &args);

} // namespace torchere::cpu
