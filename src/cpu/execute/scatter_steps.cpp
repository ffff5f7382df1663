// Implements scatters.
#include "cpu/execute/scatter_steps.h"

namespace torchere::cpu {

Status ScatterStep::run(const Frame &frame) const {
  ScatterArgs here = args;
  here.slices.indices = frame.at(indices);
  here.tensor = frame.at(tensor);
  here.updates = frame.at(updates);
  scatterSlices(frame.context, here);
  return {};
}

Status ScatterFoldStep::run(const Frame &frame) const {
  ScatterFoldArgs here = args;
  here.program = &program;
  here.slices.indices = frame.at(indices);
  for (size_t i = 0; i < operands.size(); ++i) {
    here.operands[i].tensor = frame.at(operands[i].tensor);
    here.operands[i].updates = frame.at(operands[i].updates);
  }
  here.captures.clear();
  for (const View &capture : captures)
    here.captures.push_back(frame.at(capture));
  scatterFold(frame.context, here);
  return {};
}

} // namespace torchere::cpu
