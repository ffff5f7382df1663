// Simplifying a module before it is saved or compiled.
#pragma once

#include "base/error.h"
#include "stablehlo/module.h"

#include <cstdint>

namespace torchere::passes {

struct SimplifyOptions {
  /// Constants of up to this many elements are folded. Splats always are.
  int64_t maxFoldedElements = 1024;
};

/// Folds ops on constants, drops no-ops (x * 1, a reshape to the same shape), merges and
/// cancels transposes, reshapes, broadcasts, slices and conversions, and erases dead code. Results are
/// bit-exact, functions keep their signatures, ops their locations. Internal error if MLIR fails.
TORCHERE_EXPORT Status simplify(stablehlo::Module &module, const SimplifyOptions &options = {});

} // namespace torchere::passes
