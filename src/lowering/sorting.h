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

} // namespace torchere::lowering
