// Products of matrices of complex numbers.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// C = A B, with strides in numbers.
struct ComplexProductArgs {
  DType type = DType::C64; ///< or C128
  int64_t batches = 1, m = 1, k = 1, n = 1;
  const void *a = nullptr;
  int64_t aBatchStride = 0, aRowStride = 0, aColumnStride = 0;
  const void *b = nullptr;
  int64_t bBatchStride = 0, bRowStride = 0, bColumnStride = 0;
  void *c = nullptr; ///< dense
};
void multiplyComplex(const Context &context, const ComplexProductArgs &args);

} // namespace torchere::cpu
