// Implements the reductions of windows.
#include "cpu/execute/window_steps.h"

namespace torchere::cpu {

Status WindowStep::run(const Frame &frame) const {
  WindowsArgs here = args;
  here.input = frame.at(input);
  here.initial = frame.at(initial);
  here.output = frame.at(result);
  reduceWindows(frame.context, here);
  return {};
}

Status RunningStep::run(const Frame &frame) const {
  RunningArgs here = args;
  here.input = frame.at(input);
  here.initial = frame.at(initial);
  here.output = frame.at(result);
  reduceRunning(frame.context, here);
  return {};
}

} // namespace torchere::cpu
