// Reductions of windows and running reductions, as steps.
#pragma once

#include "cpu/kernels/windows.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class WindowStep final : public StoredStep<WindowStep> {
public:
  /// The result is dense; `args` describes the views, without their memory.
  WindowStep(const WindowsArgs &args, const View &input, const View &initial, const View &result)
      : args(args), input(input), initial(initial), result(result) {}
  WindowStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.initial, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "window"; }

private:
  WindowsArgs args;
  View input, initial, result;
};

class RunningStep final : public StoredStep<RunningStep> {
public:
  /// The input and the result are dense.
  RunningStep(const RunningArgs &args, const View &input, const View &initial, const View &result)
      : args(args), input(input), initial(initial), result(result) {}
  RunningStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.initial, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "running reduction"; }

private:
  RunningArgs args;
  View input, initial, result;
};

} // namespace torchere::cpu
