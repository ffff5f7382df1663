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

/// The blocks of a group's outputs, divided evenly among as many panels as hold them. A block that two groups
/// share is in a panel of each.
struct Panels {
  explicit Panels(const ConvolutionPlan &plan);
  int64_t group(int64_t panel) const { return ofGroup == count ? 0 : panel / ofGroup; }
  /// The first block of a panel.
  int64_t begin(int64_t panel) const {
    int64_t of = group(panel);
    return of * outputs / lanes + inGroup(panel - of * ofGroup);
  }
  /// The first block whose first channel is the panel's; of panel `count`: how many there are.
  int64_t ownBegin(int64_t panel) const {
    int64_t of = group(panel), first = panel - of * ofGroup;
    return first == 0 ? (of * outputs + lanes - 1) / lanes : begin(panel);
  }
  /// The vectors of weights in front of a panel's.
  int64_t place(int64_t panel) const {
    int64_t of = group(panel);
    return of * vectorsOfGroup + inGroup(panel - of * ofGroup);
  }
  int64_t vectors(int64_t panel) const { return fewest + (panel - group(panel) * ofGroup < wider ? 1 : 0); }
  int64_t most() const { return fewest + (wider > 0 ? 1 : 0); } ///< vectors of a panel
  int64_t count;
  int64_t ofGroup;
  int64_t vectorsOfGroup;
  int64_t fewest; ///< blocks of a panel
  int64_t wider;  ///< panels of a group that have one more

private:
  int64_t inGroup(int64_t panel) const { return panel * fewest + (panel < wider ? panel : wider); }
  int64_t outputs, lanes; ///< of a group
};

/// Whether the pixels that a window of one pixel skips are left out of a copy of the input first: the rest is
/// read once for each panel of outputs.
bool skipsPixels(const ConvolutionPlan &plan);

/// The blocks of input channels that the panels of a group read. Where a group has half a block, that comes
/// last: the first half of a block, or the second one, if it lies in front of the others.
struct PanelBlocks {
  explicit PanelBlocks(const ConvolutionPlan &plan);
  int64_t count; ///< of a group
  /// The first block of a group.
  int64_t first(int64_t group) const { return group * inputs / lanes; }
  /// Whether a group begins with the second half of its first block.
  bool beginsByHalf(int64_t group) const { return group * inputs % lanes != 0; }
  /// Channel `lane` of block `block` of a group's, by its number in the group.
  int64_t channel(int64_t group, int64_t block, int64_t lane) const {
    bool isHalf = beginsByHalf(group), isLast = block + 1 == count;
    return isHalf && isLast ? lane : block * lanes + lane + (isHalf ? lanes / 2 : 0);
  }
  /// How many lanes of a block are the group's.
  int64_t channels(int64_t block) const { return block + 1 < count ? lanes : inputs - block * lanes; }

private:
  int64_t inputs, lanes; ///< of a group
};

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
