// Reductions, of windows or not, by a function that is given as a vector program.
#pragma once

#include "cpu/kernels/reduction.h"
#include "cpu/vector/program.h"

#include <vector>

namespace torchere::cpu {

/// One of the tensors that are reduced together. Strides are in elements.
struct FoldOperand {
  DType type = DType::F32;
  const void *input = nullptr;
  const void *initial = nullptr; ///< one element; null to begin with the first element of the window
  void *output = nullptr;
  int64_t inputStrides[kMaxRank] = {};  ///< along the output's dimensions
  int64_t windowStrides[kMaxRank] = {}; ///< along the window's
  int64_t outputStrides[kMaxRank] = {};
};

/// An output is joined of the elements of its window in row-major order. Of few outputs with long windows
/// pieces of the window are joined first, so the function must be associative.
struct FoldArgs {
  /// Its inputs are what has been joined, the elements to join, then the captures; its outputs what is
  /// joined.
  const VectorProgram *program = nullptr;
  std::vector<FoldOperand> operands;
  std::vector<const void *> captures; ///< one element each
  std::vector<DType> captureTypes;
  int rank = 0;
  int64_t dims[kMaxRank] = {};
  int windowRank = 0;
  int64_t windowDims[kMaxRank] = {}; ///< at least 1
  /// What is joined after each element of the window is kept, at the element's place in the output; the
  /// strides of the output are then those of the input.
  bool running = false;
};
void fold(const Context &context, const FoldArgs &args);

} // namespace torchere::cpu
