// Selection by a mask: the places where it is set, whose number is known only while the program runs.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// Where a flat mask is set, in order, as i64.
mlir::Value placesOfSet(Context &cx, mlir::Value mask);

/// The places of a flat mask, of all its elements: those that are set first, each part in order; and how many
/// are set, as a 0-d i64.
struct Order {
  mlir::Value places, count;
};
Order setFirst(Context &cx, mlir::Value mask);

/// The coordinates of places in the row-major order of a shape: one column for each dimension.
Values coordinatesOf(Context &cx, mlir::Value places, llvm::ArrayRef<Dim> shape);

/// All elements in one dimension.
mlir::Value flattened(Context &cx, mlir::Value value);

/// The value with at least one element along the axis: a gather reads one even where it has no places to
/// read, and the size of a value may be 0 where it depends on data.
mlir::Value atLeastOne(Context &cx, mlir::Value value, int64_t axis);

} // namespace torchere::lowering
