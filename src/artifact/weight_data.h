// The data of a bundle's weights: supplied to weights that are types alone, exchanged for others, left out.
#pragma once

#include "artifact/bundle.h"
#include "program/weight_memory.h"

#include <vector>

namespace torchere::artifact {

/// The bundle with other data for the weights and constants of these names, and for those tied to them that
/// are not given; all else is shared. Errors: NotFound for a name that the bundle lacks, InvalidArgument for
/// another dtype or shape than its weight has.
TORCHERE_EXPORT Result<Bundle> withWeights(const Bundle &bundle, const std::vector<program::Weight> &given);

/// Makes every weight of the state dict a type alone.
TORCHERE_EXPORT void leaveWeightsOut(Bundle &bundle);

/// The names of weights and constants that functions take and that have no data, sorted.
TORCHERE_EXPORT std::vector<std::string> namesWithoutData(const Bundle &bundle);

/// FailedPrecondition if the weight has no data; `name` starts the error.
TORCHERE_EXPORT Status checkHasData(const program::Weight &weight, std::string_view name);

} // namespace torchere::artifact
