// Lists of index tensors, as in x[i, :, j].
#pragma once

#include "lowering/placement.h"

namespace torchere::lowering {

/// The common shape of tensors that are broadcast together.
Dims broadcastShape(Context &cx, const Values &tensors);

/// Whether one of the indices is a mask (bool or uint8), so that the places depend on data.
bool hasMask(const Values &indices);

/// The slices that `indices` selects: an entry indexes the next axis, and a null entry keeps it whole. A mask
/// takes as many axes as it has dimensions, and stands for the coordinates of what it sets. The tensors are
/// broadcast together; negative elements count from the end. The indexed dimensions of the result come where
/// the first index is if the indexed axes are adjacent, otherwise in front.
Result<Placement> placementOf(Context &cx, mlir::Value value, const Values &indices);

} // namespace torchere::lowering
