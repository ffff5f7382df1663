// Steps of rows: softmax and norms.
#pragma once

#include "cpu/kernels/normalization.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class SoftmaxStep final : public StoredStep<SoftmaxStep> {
public:
  /// Dense views of as many elements; `args` without their memory.
  SoftmaxStep(const SoftmaxArgs &args, const View &input, const View &result)
      : args(args), input(input), result(result) {}
  SoftmaxStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "softmax"; }

private:
  SoftmaxArgs args;
  View input, result;
};

class NormStep final : public StoredStep<NormStep> {
public:
  /// Dense views; scale and bias have an element a column, if there are any.
  NormStep(const NormArgs &args, const View &input, std::optional<View> scale, std::optional<View> bias,
           const View &result)
      : args(args), input(input), result(result), scale(std::move(scale)), bias(std::move(bias)) {}
  NormStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.args, step.input, step.result, step.scale, step.bias);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "norm"; }

private:
  NormArgs args;
  View input, result;
  std::optional<View> scale, bias;
};

} // namespace torchere::cpu
