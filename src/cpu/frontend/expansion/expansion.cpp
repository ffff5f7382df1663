// Implements the order of the expansions.
#include "cpu/frontend/expansion/expansion.h"

namespace torchere::cpu {

void expand(mlir::func::FuncOp function) {
  expandQuantizedTypes(function);
  replaceEmptyValues(function);
  expandOps(function);
  expandRegionBranches(function);
  expandSelections(function);
  expandComputedPadding(function);
  expandEinsums(function);
  expandRandomNumbers(function);
  expandReducedPrecision(function);
  expandComplexOperands(function);
  expandTypes(function);
}

} // namespace torchere::cpu
