// Products of matrices with one vector each.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// c[batch][i] = sum over j of a[batch][i][j] * b[batch][j], of F32, F64 or integers. One of a's strides is
/// 1; strides are in elements. Integers are of 32 or 64 bits, or of 8 with sums of 32. The order of a sum
/// depends on n and on which stride is 1.
struct MatrixVectorArgs {
  DType type = DType::F32;
  DType vectorType = DType::F32; ///< another only among I8 and U8
  int64_t batches = 1;
  int64_t m = 1;
  int64_t n = 1;
  const std::byte *a = nullptr;
  int64_t aBatchStride = 0;
  int64_t aRowStride = 0;
  int64_t aColumnStride = 1;
  const std::byte *b = nullptr;
  int64_t bBatchStride = 0;
  int64_t bStride = 1;
  std::byte *c = nullptr; ///< dense
};
/// Whether there are kernels for these types.
bool hasMatrixVector(DType type, DType vectorType, DType resultType);
void multiplyByVector(const Context &context, const MatrixVectorArgs &args);

} // namespace torchere::cpu
