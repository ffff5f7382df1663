// Products of matrices with one vector each.
#pragma once

#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// c[batch][row] = sum over k of a[batch][row][k] * b[batch][k], of f32. A row's elements follow each other;
/// strides are in elements. The order of a sum depends on k alone.
struct MatrixVectorArgs {
  int64_t batches = 1;
  int64_t m = 1;
  int64_t k = 1;
  const float *a = nullptr;
  int64_t aBatchStride = 0;
  int64_t aRowStride = 0;
  const float *b = nullptr;
  int64_t bBatchStride = 0;
  int64_t bStride = 1;
  float *c = nullptr; ///< dense
};
void multiplyByVector(const Context &context, const MatrixVectorArgs &args);

} // namespace torchere::cpu
