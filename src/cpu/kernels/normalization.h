// Softmax and the norms over the last dimension.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// `rows` rows of `columns` contiguous elements each, at row strides in elements. Types: F32, BF16, F16
/// (computed in f32, rounded once) and F64. Input and output may be the same.
struct RowsArgs {
  DType type = DType::F32;
  int64_t rows = 0;
  int64_t columns = 0;
  const void *input = nullptr;
  int64_t inputRowStride = 0;
  void *output = nullptr;
  int64_t outputRowStride = 0;
};

/// Rows of elements that lie apart have at most so many.
constexpr int64_t kMaxAcrossLength = 16384;

/// exp(x - max) / sum; `logarithm` for log_softmax. A row that is all -inf gives NaN, or 0 with
/// `zeroWhenMasked`.
struct SoftmaxArgs {
  RowsArgs rows;
  bool logarithm = false;
  bool zeroWhenMasked = false; ///< if the rows are contiguous
  /// How far the elements of a row lie apart: rows of dense [outer][columns][inner], whose strides count for
  /// nothing if that is more than 1.
  int64_t inner = 1;
};
void softmax(const Context &context, const SoftmaxArgs &args);

/// (x - mean) / sqrt(variance + epsilon) * scale + bias; without the mean for RMS norm. `scale` and `bias`
/// have `columns` elements, or are null: of the rows' type, or of F32 beside rows of BF16 and F16.
struct NormArgs {
  RowsArgs rows;
  bool subtractMean = true;
  double epsilon = 1e-5;
  const void *scale = nullptr;
  const void *bias = nullptr;
  bool hasWideFactors = false; ///< they are of F32, and the rows are not
};
void normalize(const Context &context, const NormArgs &args);

} // namespace torchere::cpu
