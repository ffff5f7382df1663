// Lets elementwise ops wait for the vector program that they become a part of.
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/planner.h"

namespace torchere::cpu {

static Result<bool> planElementwise(Planner &planner, mlir::Operation *op) {
  if (!isElementwise(op))
    return false;
  planner.defer(op);
  return true;
}

void addElementwise(PlannerTable &table) {
  for (llvm::StringRef name : elementwiseNames())
    name.starts_with(kernelPrefix) ? table.addCall(name, planElementwise) : table.add(name, planElementwise);
}

} // namespace torchere::cpu
