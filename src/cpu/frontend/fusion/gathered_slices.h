// Gathers of whole slices along an axis, as resampling and index_select have them.
#pragma once

#include "stablehlo/dialect.h"

namespace torchere::cpu {

/// Whether its places are integers of 32 or 64 bits.
bool hasWidePlaces(stablehlo::GatherOp op);

/// The axis of a gather that takes whole slices, one for each place of 32 or 64 bits, and puts them in their
/// order; -1 for another.
int64_t sliceAxis(stablehlo::GatherOp op);

} // namespace torchere::cpu
