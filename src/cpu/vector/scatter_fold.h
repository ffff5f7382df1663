// Scatters of several tensors, or with a function that is given as a vector program.
#pragma once

#include "cpu/kernels/indexed_slices.h"
#include "cpu/vector/program.h"

#include <vector>

namespace torchere::cpu {

struct ScatterFoldOperand {
  DType type = DType::F32;
  void *tensor = nullptr;
  const void *updates = nullptr;
};

/// In the order of the slices; elements outside are skipped.
struct ScatterFoldArgs {
  /// Its inputs are the elements of the tensors, the updates, then the captures; its outputs the elements.
  const VectorProgram *program = nullptr;
  IndexedSlices slices; ///< of each operand
  std::vector<ScatterFoldOperand> operands;
  std::vector<const void *> captures; ///< one element each
  std::vector<DType> captureTypes;
};
void scatterFold(const Context &context, const ScatterFoldArgs &args);

} // namespace torchere::cpu
