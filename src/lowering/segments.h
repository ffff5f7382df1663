// Segments of rows: the bags of embeddings, and what segment reductions fold.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// The segment of each of `count` places: how many offsets after the first are at or before it, of each row
/// of `offsets` [..., segments]. -1 before the first offset. i64 [..., count].
mlir::Value segmentsOf(Context &cx, mlir::Value offsets, Dim count);

} // namespace torchere::lowering
