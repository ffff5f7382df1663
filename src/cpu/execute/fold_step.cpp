// Implements FoldStep.
#include "cpu/execute/fold_step.h"

namespace torchere::cpu {

Status FoldStep::run(const Frame &frame) const {
  FoldArgs here = args;
  here.program = &program;
  for (size_t i = 0; i < operands.size(); ++i) {
    here.operands[i].input = frame.at(operands[i].input);
    here.operands[i].initial = frame.at(operands[i].initial);
    here.operands[i].output = frame.at(operands[i].result);
  }
  here.captures.clear();
  for (const View &capture : captures)
    here.captures.push_back(frame.at(capture));
  fold(frame.context, here);
  return {};
}

} // namespace torchere::cpu
