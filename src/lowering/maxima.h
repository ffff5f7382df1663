// Maxima and where they stood, as pooling gives them.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

struct Maxima {
  mlir::Value values;
  mlir::Value places; ///< i64, not negative
};

/// The largest of the elements that are inside, along an axis, and its place: the least one of equals, but of
/// NaNs the greatest.
Maxima reduceMaxima(Context &cx, const Maxima &elements, mlir::Value isInside, int64_t axis);

} // namespace torchere::lowering
