// UnfoldedConvolutionStep: a convolution of any form.
#pragma once

#include "cpu/kernels/unfolded_convolution.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class UnfoldedConvolutionStep final : public StoredStep<UnfoldedConvolutionStep> {
public:
  /// `args` describes the views, without their memory.
  UnfoldedConvolutionStep(const UnfoldedConvolution &args, const View &input, const View &weights,
                          const View &result, const View &workspace)
      : args(args), input(input), weights(weights), result(result), workspace(workspace) {}
  UnfoldedConvolutionStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.args, step.input, step.weights, step.result, step.workspace);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "unfolded convolution"; }

private:
  UnfoldedConvolution args;
  View input, weights, result, workspace;
};

} // namespace torchere::cpu
