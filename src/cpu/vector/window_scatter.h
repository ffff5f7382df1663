// select_and_scatter: each source element goes to the element that is selected in its window.
#pragma once

#include "cpu/kernels/reduction.h"
#include "cpu/vector/program.h"

namespace torchere::cpu {

struct WindowScatterArgs {
  /// Of the element selected so far and another: whether the first stays.
  const VectorProgram *select = nullptr;
  /// Of what the result holds and a source element: what it holds then.
  const VectorProgram *scatter = nullptr;
  DType type = DType::F32;
  int rank = 0;
  int64_t dims[kMaxRank] = {}; ///< of the operand and the result
  int64_t sourceDims[kMaxRank] = {};
  int64_t windowDims[kMaxRank] = {};
  int64_t windowStrides[kMaxRank] = {};
  int64_t padding[kMaxRank] = {}; ///< before the first element
  // Contiguous.
  const void *operand = nullptr;
  const void *source = nullptr;
  const void *initial = nullptr; ///< one element
  void *result = nullptr;
};
/// Elements in the padding are not selected. Sources are scattered in row-major order.
void selectAndScatter(const Context &context, const WindowScatterArgs &args);

} // namespace torchere::cpu
