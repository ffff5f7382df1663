// The expansion of CHLO ops to StableHLO's.
#pragma once

#include "mlir/IR/Operation.h"

namespace torchere::passes {

/// Replaces every CHLO op within `root` by StableHLO ops. Fails, with a diagnostic that names the
/// op, on one that it cannot expand; others may already be expanded.
llvm::LogicalResult legalizeChlo(mlir::Operation *root);

} // namespace torchere::passes
