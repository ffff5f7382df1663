// Cholesky's factorization and systems with a triangular matrix, in blocks.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// Contiguous matrices of F32, F64, C64 or C128.
struct CholeskyArgs {
  DType type = DType::F32;
  int64_t batches = 1;
  int64_t size = 0;
  /// Reads the lower triangle and gives L with L L^H = A; otherwise reads the upper one and gives U with
  /// U^H U = A. The other triangle of the result is zero. All NaN if the matrix is not positive definite.
  bool isLower = true;
  const void *input = nullptr;
  void *output = nullptr;
};
void cholesky(const Context &context, const CholeskyArgs &args);

/// Contiguous: A of [batches][size][size], of which one triangle is read; B and the result of
/// [size][columns], or [columns][size] if A stands on the right.
struct TriangularSolveArgs {
  DType type = DType::F32;
  int64_t batches = 1;
  int64_t size = 0;
  int64_t columns = 0;
  bool isLeft = true;
  bool isLower = true;
  bool isUnit = false; ///< the diagonal is not read: ones
  bool isTransposed = false;
  bool isConjugate = false;
  const void *a = nullptr;
  const void *b = nullptr;
  void *output = nullptr;
};
void solveTriangular(const Context &context, const TriangularSolveArgs &args);

} // namespace torchere::cpu
