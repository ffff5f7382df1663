// Reductions of windows and running reductions, as steps.
#pragma once

#include "cpu/kernels/windows.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

class WindowStep final : public Step {
public:
  /// The result is dense; `args` describes the views, without their memory.
  WindowStep(const WindowsArgs &args, const View &input, const View &initial, const View &result)
      : args(args), input(input), initial(initial), result(result) {}
  Status run(const Frame &frame) const final;

private:
  WindowsArgs args;
  View input, initial, result;
};

class RunningStep final : public Step {
public:
  /// The input and the result are dense.
  RunningStep(const RunningArgs &args, const View &input, const View &initial, const View &result)
      : args(args), input(input), initial(initial), result(result) {}
  Status run(const Frame &frame) const final;

private:
  RunningArgs args;
  View input, initial, result;
};

} // namespace torchere::cpu
