// The extreme elements along a dimension, or of windows, and where they lie.
#pragma once

#include "cpu/kernels/extremum.h"
#include "cpu/kernels/window_extremum.h"
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

class WindowExtremumStep final : public StoredStep<WindowExtremumStep> {
public:
  /// Dense views; `args` without their memory.
  WindowExtremumStep(const WindowExtremumArgs &args, const View &input, const View &values,
                     const View &places)
      : args(args), input(input), values(values), places(places) {}
  WindowExtremumStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.values, step.places); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "window extremum"; }

private:
  WindowExtremumArgs args;
  View input, values, places;
};

} // namespace torchere::cpu
