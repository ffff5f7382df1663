// Norms of vectors, as every op that has one inside builds them.
#pragma once

#include "lowering/elements.h"

namespace torchere::lowering {

/// The p-norm of magnitudes along axes: 0 counts what is not zero, infinities take the extremes.
mlir::Value normOf(Context &cx, const Elements &magnitude, double p, llvm::ArrayRef<int64_t> axes);

} // namespace torchere::lowering
