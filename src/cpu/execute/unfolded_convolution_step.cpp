// Implements UnfoldedConvolutionStep.
#include "cpu/execute/unfolded_convolution_step.h"

namespace torchere::cpu {

Status UnfoldedConvolutionStep::run(const Frame &frame) const {
  UnfoldedConvolution here = args;
  here.input.data = frame.at(input);
  here.weights.data = frame.at(weights);
  here.output.data = frame.at(result);
  convolveUnfolded(frame.context, here, frame.at(workspace));
  return {};
}

} // namespace torchere::cpu
