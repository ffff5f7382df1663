// Evenly spaced numbers: linspace, and the edges of histograms.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// `steps` numbers from `first` to `last`, 0-d tensors of one floating-point or complex dtype. Each half is
/// computed from its own end, as torch does, so that both ends are exact.
mlir::Value evenlySpaced(Context &cx, mlir::Value first, mlir::Value last, int64_t steps);

} // namespace torchere::lowering
