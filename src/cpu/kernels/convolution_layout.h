// Where a convolution's panels of weights read the input.
#pragma once

#include "cpu/kernels/convolution.h"

namespace torchere::cpu {

/// The rows (axis 0) or columns of the input that the output reads, with the padding.
int64_t paddedExtent(const ConvolutionShape &shape, int axis);

/// A panel of output channels reads the blocks of input channels that its groups lie in: all have the same
/// number, `count`.
struct PanelBlocks {
  int64_t panels = 0;
  int64_t total = 0;
  int64_t count = 0;
  int64_t first(const ConvolutionPlan &plan, int64_t panel) const;
};
PanelBlocks panelBlocks(const ConvolutionPlan &plan);

} // namespace torchere::cpu
