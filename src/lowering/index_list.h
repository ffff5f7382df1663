// Lists of index tensors, as x[i, :, j] gives them: where they point to.
#pragma once

#include "lowering/placement.h"

namespace torchere::lowering {

/// The slices that `indices` name: entry d counts along axis d, and a null one leaves the axis whole. The
/// tensors are broadcast together; negative elements count from the end. The places stand where the first
/// index does if the indexed axes are next to each other, else in front. Refuses masks, whose result has a
/// size that depends on data.
Result<Placement> placementOf(Context &cx, mlir::Value value, const Values &indices);

} // namespace torchere::lowering
