// Implements control flow.
#include "cpu/execute/control_steps.h"

#include "cpu/execute/slice_step.h"
#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

Status LoopStep::run(const Frame &frame) const {
  while (true) {
    TORCHERE_TRY(runSteps(condition, frame));
    if (integerAt(frame, predicate) == 0)
      return {};
    TORCHERE_TRY(runSteps(body, frame));
  }
}

Status LoopStep::prepare(const Frame &frame) const {
  TORCHERE_TRY(prepareSteps(condition, frame));
  return prepareSteps(body, frame);
}

bool LoopStep::packs(BufferId buffer) const {
  return buffer != predicate.buffer && (anyPacks(condition, buffer) || anyPacks(body, buffer));
}

bool BranchStep::packs(BufferId buffer) const {
  auto isIn = [&](const Steps &branch) { return anyPacks(branch, buffer); };
  return buffer != index.buffer && std::any_of(branches.begin(), branches.end(), isIn);
}

Status BranchStep::prepare(const Frame &frame) const {
  for (const Steps &branch : branches)
    TORCHERE_TRY(prepareSteps(branch, frame));
  return {};
}

Status BranchStep::run(const Frame &frame) const {
  int64_t chosen = integerAt(frame, index);
  auto last = static_cast<int64_t>(branches.size()) - 1;
  if (isBool(index.type))
    chosen = chosen != 0 ? 0 : 1;
  if (chosen < 0 || chosen > last)
    chosen = last;
  return runSteps(branches[static_cast<size_t>(chosen)], frame);
}

Status LoopStep::restore(const PlanLimits &limits) {
  return limits.readsInteger(predicate);
}

Status BranchStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expect(!branches.empty(), "branches: expected at least one"));
  return limits.readsInteger(index);
}

} // namespace torchere::cpu
