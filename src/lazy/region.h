// Regions of a program that torch_xla.compile() encloses: what they promise about their graphs.
#pragma once

#include "base/error.h"

#include <cstdint>

namespace torchere::lazy {

/// FailedPrecondition while this thread is in a region that promised to be one graph.
Status checkRegionMayExecute();
/// FailedPrecondition if the graph with this hash is one too many for the region that this thread is in.
Status countGraphOfRegion(uint64_t hash);

} // namespace torchere::lazy
