// Matrices applied along an axis: pooling in bins and resampling, and their gradients.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// The value with an axis of it contracted with axis `matrixAxis` of a matrix, whose other axis takes its
/// place.
mlir::Value multiplyAlong(Context &cx, mlir::Value value, int64_t axis, mlir::Value matrix,
                          int64_t matrixAxis);

/// The [out, in] matrix that averages in bins: bin i spans floor(i * in / out) to ceil((i + 1) * in / out).
mlir::Value averagingMatrix(Context &cx, Dim in, Dim out, DType dtype);

/// The [out, in] bools of which bin each element is in.
struct Bins {
  mlir::Value holds;  ///< bools [out, in]
  mlir::Value length; ///< i64 [out, in]
};
Bins adaptiveBins(Context &cx, Dim in, Dim out);

} // namespace torchere::lowering
