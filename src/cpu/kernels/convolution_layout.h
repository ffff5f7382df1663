// Where a convolution's panels of weights read the input.
#pragma once

#include "cpu/kernels/convolution.h"

namespace torchere::cpu {

/// The rows (axis 0) or columns of the input that the output reads, with the padding.
int64_t paddedExtent(const ConvolutionShape &shape, int axis);

/// body(PhasePlan), in the order in which the weights of phases are packed.
template <class Body> void eachPhase(const ConvolutionPlan &plan, const Body &body) {
  for (int64_t y = 0; y < plan.shape.phases[0]; ++y)
    for (int64_t x = 0; x < plan.shape.phases[1]; ++x)
      body(phasePlan(plan, y, x));
}

/// The blocks of outputs, divided evenly among as many panels as hold them.
struct Panels {
  explicit Panels(const ConvolutionPlan &plan);
  /// The first block of a panel; of panel `count`: how many there are.
  int64_t begin(int64_t panel) const { return panel * fewest + (panel < wider ? panel : wider); }
  int64_t vectors(int64_t panel) const { return fewest + (panel < wider ? 1 : 0); }
  int64_t count;
  int64_t fewest; ///< blocks of a panel
  int64_t wider;  ///< panels that have one more
};

/// Whether the pixels that a window of one pixel skips are left out of a copy of the input first: the rest is
/// read once for each panel of outputs.
bool skipsPixels(const ConvolutionPlan &plan);

/// A panel of output channels reads the blocks of input channels that its groups lie in: all have the same
/// number, `count`.
struct PanelBlocks {
  int64_t panels = 0;
  int64_t total = 0;
  int64_t count = 0;
  int64_t first(const ConvolutionPlan &plan, int64_t panel) const;
};
PanelBlocks panelBlocks(const ConvolutionPlan &plan);

/// The output channels whose weights lie together: whole vectors, of which the last may be wider than what is
/// left.
struct WeightPanel {
  WeightPanel(const ConvolutionPlan &plan, int64_t index);
  int64_t firstOutput;
  int64_t columns; ///< in memory
  int64_t outputs; ///< that there are
};

/// The weights of a panel as [input][tap][column], of `count` input channels and the tap of the depth that
/// `weights` begins with: zeros where there is no such channel. Of convolutions without groups.
void gatherTaps(const ConvolutionPlan &plan, const WeightPanel &panel, const float *weights,
                const int64_t (&strides)[5], int64_t firstInput, int64_t count, float *to);

} // namespace torchere::cpu
