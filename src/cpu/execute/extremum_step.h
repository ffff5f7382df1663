// ExtremumStep: the extreme elements along a dimension, and where they lie.
#pragma once

#include "cpu/kernels/extremum.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class ExtremumStep final : public StoredStep<ExtremumStep> {
public:
  /// Dense views; `args` without their memory.
  ExtremumStep(const ExtremumArgs &args, const View &input, const View &values, const View &places)
      : args(args), input(input), values(values), places(places) {}
  ExtremumStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.values, step.places); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "extremum"; }

private:
  ExtremumArgs args;
  View input, values, places;
};

} // namespace torchere::cpu
