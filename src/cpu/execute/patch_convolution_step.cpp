// Implements PatchConvolutionStep.
#include "cpu/execute/patch_convolution_step.h"

namespace torchere::cpu {

Status PatchConvolutionStep::run(const Frame &frame) const {
  convolvePatches(frame.context,
                  {&convolution, frame.at(input), input.strides.data(), frame.at(weights), frame.at(result)});
  return {};
}

} // namespace torchere::cpu
