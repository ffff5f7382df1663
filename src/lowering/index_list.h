// Lists of index tensors, as in x[i, :, j].
#pragma once

#include "lowering/placement.h"

namespace torchere::lowering {

/// The slices that `indices` selects: entry d indexes axis d, and a null entry keeps the whole axis. The
/// tensors are broadcast together; negative elements count from the end. The indexed dimensions of the result
/// come where the first index is if the indexed axes are adjacent, otherwise in front. Rejects masks, whose
/// result size depends on data.
Result<Placement> placementOf(Context &cx, mlir::Value value, const Values &indices);

} // namespace torchere::lowering
