// InterpolationStep: sums of elements along an axis with weights.
#pragma once

#include "cpu/kernels/interpolation.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class InterpolationStep final : public StoredStep<InterpolationStep> {
public:
  /// Dense views, of f32 but for the places; `axis` is the input's and the result's. Of each tap its places,
  /// then its weights.
  InterpolationStep(const View &input, std::vector<View> taps, int64_t axis, const View &result);
  InterpolationStep() = default;
  static auto fields(auto &step) { return std::tie(step.input, step.taps, step.axis, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "interpolation"; }

private:
  void derive();

  View input;
  std::vector<View> taps;
  int64_t axis = 0;
  View result;
  InterpolationArgs args; ///< without memory
};

} // namespace torchere::cpu
