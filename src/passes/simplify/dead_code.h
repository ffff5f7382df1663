// Erases ops without uses.
#pragma once

#include "mlir/IR/Operation.h"

namespace torchere::passes {

/// Erases, in the regions of `op`, the ops without uses and effects, and what only they used.
void eraseDeadOps(mlir::Operation *op);

} // namespace torchere::passes
