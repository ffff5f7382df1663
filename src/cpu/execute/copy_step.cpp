// Implements CopyStep.
#include "cpu/execute/copy_step.h"

#include "cpu/execute/strided_copy.h"

namespace torchere::cpu {

Status CopyStep::run(const Frame &frame) const {
  copyElements(frame.context, to.shape, to.elementSize(), frame.at(from), from.strides, frame.at(to),
               to.strides);
  return {};
}

} // namespace torchere::cpu
