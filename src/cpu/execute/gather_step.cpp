// Implements GatherStep.
#include "cpu/execute/gather_step.h"

namespace torchere::cpu {

Status GatherStep::run(const Frame &frame) const {
  IndexedSlices here = slices;
  here.indices = frame.at(indices);
  gatherSlices(frame.context, here, tensor.elementSize(), frame.at(tensor), frame.at(result));
  return {};
}

} // namespace torchere::cpu
