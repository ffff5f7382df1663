// Simplifying a module before it is saved or compiled.
#pragma once

#include "base/error.h"
#include "stablehlo/module.h"

#include <cstdint>

namespace torchere::passes {

struct SimplifyOptions {
  /// Constants of up to this many elements are computed. Values that are the same everywhere always are.
  int64_t maxFoldedElements = 1024;
};

/// Computes ops on constants, drops ops that do nothing (x * 1, a reshape to the same shape), joins and
/// cancels transposes, reshapes, broadcasts, slices and conversions, and erases what has no use. Results stay
/// the same to the last bit, functions keep their signatures, ops their locations. Internal if MLIR refuses.
TORCHERE_EXPORT Status simplify(stablehlo::Module &module, const SimplifyOptions &options = {});

} // namespace torchere::passes
