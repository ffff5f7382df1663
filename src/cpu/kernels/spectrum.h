// Eigenvalues of Hermitian matrices, and singular values.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// Contiguous Hermitian matrices of F32, F64, C64 or C128. Results of a matrix that has an infinity or NaN
/// are NaN.
struct EigenArgs {
  DType type = DType::F32;
  int64_t batches = 1;
  int64_t size = 0;
  const void *input = nullptr;
  void *values = nullptr;  ///< [size], real, ascending
  void *vectors = nullptr; ///< [size][size], in columns; null if nobody wants them
};
void findEigenvalues(const Context &context, const EigenArgs &args);

/// A = U S V^H of contiguous matrices. NaN as above.
struct SingularArgs {
  DType type = DType::F32;
  int64_t batches = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  bool isFull = false; ///< U and V^H are square; else they have min(rows, columns) columns, or rows
  const void *input = nullptr;
  void *values = nullptr; ///< [min(rows, columns)], real, descending
  void *u = nullptr;      ///< null, as vh, if nobody wants them
  void *vh = nullptr;
};
void findSingularValues(const Context &context, const SingularArgs &args);

} // namespace torchere::cpu
