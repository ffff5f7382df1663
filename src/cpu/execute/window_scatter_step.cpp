// Implements WindowScatterStep.
#include "cpu/execute/window_scatter_step.h"

namespace torchere::cpu {

Status WindowScatterStep::run(const Frame &frame) const {
  WindowScatterArgs here = args;
  here.select = &select;
  here.scatter = &scatter;
  here.operand = frame.at(views.operand);
  here.source = frame.at(views.source);
  here.initial = frame.at(views.initial);
  here.result = frame.at(views.result);
  selectAndScatter(frame.context, here);
  return {};
}

} // namespace torchere::cpu
