// Cholesky's factorization, LU factors and systems with a triangular matrix, in blocks.
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
  int32_t *firstWrong = nullptr; ///< one a matrix: the first minor, from 1, that is not positive, or 0
};
void cholesky(const Context &context, const CholeskyArgs &args);

/// P A = L U of contiguous matrices, by partial pivoting. L, without its ones, and U lie in one matrix.
struct LuArgs {
  DType type = DType::F32;
  int64_t batches = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int32_t firstRow = 0; ///< the number that pivots count the rows from
  const void *input = nullptr;
  void *output = nullptr;
  int32_t *pivots = nullptr;      ///< [min(rows, columns)]: the row that changed places with the step's
  int32_t *permutation = nullptr; ///< [rows]: the row of A that is each one of P A
  int32_t *firstZero = nullptr;   ///< one a matrix: the first step, from 1, whose pivot is zero, or 0
};
void factorizeLu(const Context &context, const LuArgs &args);

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
