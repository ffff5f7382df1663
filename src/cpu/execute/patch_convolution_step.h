// PatchConvolutionStep: a convolution of any form.
#pragma once

#include "cpu/kernels/patch_convolution.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

class PatchConvolutionStep final : public Step {
public:
  /// The input's dimensions are in the order of batch, channels, space; weights and result are dense.
  PatchConvolutionStep(PatchConvolution convolution, const View &input, const View &weights,
                       const View &result)
      : convolution(std::move(convolution)), input(input), weights(weights), result(result) {}
  Status run(const Frame &frame) const final;

private:
  PatchConvolution convolution;
  View input, weights, result;
};

} // namespace torchere::cpu
