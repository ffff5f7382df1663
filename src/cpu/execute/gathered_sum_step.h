// GatheredSumStep: sums of elements at several computed places, each times its weight.
#pragma once

#include "cpu/kernels/gathered_sums.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class GatheredSumStep final : public StoredStep<GatheredSumStep> {
public:
  /// `slices` describes the views, without their memory. Of each tap its indices, all in the same strides,
  /// and its weights, dense and of f32 like the tensor.
  GatheredSumStep(const IndexedSlices &slices, const View &tensor, std::vector<View> taps, const View &result)
      : slices(slices), tensor(tensor), taps(std::move(taps)), result(result) {}
  GatheredSumStep() = default;
  static auto fields(auto &step) { return std::tie(step.slices, step.tensor, step.taps, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "gathered sum"; }

private:
  IndexedSlices slices;
  View tensor;
  std::vector<View> taps;
  View result;
};

} // namespace torchere::cpu
