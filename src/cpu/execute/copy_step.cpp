// Implements CopyStep.
#include "cpu/execute/copy_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status CopyStep::run(const Frame &frame) const {
  copy.run(frame.context, frame.at(from), frame.at(to));
  return {};
}

Status CopyStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(limits.reads(from));
  TORCHERE_TRY(limits.writes(to));
  TORCHERE_TRY(expectShape("sizes", from.shape, to.shape));
  TORCHERE_TRY(expectEqual("bytes of an element", from.elementSize(), to.elementSize()));
  copy = StridedCopy(to.shape, to.elementSize(), from.strides, to.strides);
  return {};
}

} // namespace torchere::cpu
