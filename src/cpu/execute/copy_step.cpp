// Implements CopyStep.
#include "cpu/execute/copy_step.h"

namespace torchere::cpu {

Status CopyStep::run(const Frame &frame) const {
  copy.run(frame.context, frame.at(from), frame.at(to));
  return {};
}

} // namespace torchere::cpu
