// Sorting as torch does it: what ops that order elements, and ops that pick by order, share.
#pragma once

#include "lowering/region.h"

namespace torchere::lowering {

/// The sorted elements and where they stood; NaN is greater than every number, and equals keep their order.
Values sortAlong(Context &cx, mlir::Value value, int64_t axis, bool descending);

/// The sorted elements, and another tensor of their shape in the same order.
Values sortedBy(Context &cx, mlir::Value value, mlir::Value other, int64_t axis, bool descending);

/// What such ops give for a tensor of no dimensions: itself, and place 0.
Values orderOfOne(Context &cx, mlir::Value self);

/// How many elements of a sorted row stand before a value: before the first that is not less, or (right)
/// before the first that is greater. `rows` [..., n] are one for all values, or one for each row of `values`.
/// i64, of the values' shape.
mlir::Value numberBefore(Context &cx, mlir::Value rows, mlir::Value values, bool isRight);

} // namespace torchere::lowering
