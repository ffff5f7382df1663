// The expansion of CHLO ops to StableHLO's.
#pragma once

#include "mlir/IR/Operation.h"

namespace torchere::passes {

/// Puts StableHLO ops in the place of every CHLO op within `root`. Fails, with a diagnostic that names the
/// op, on one that it cannot expand; the rest may then be expanded already.
llvm::LogicalResult legalizeChlo(mlir::Operation *root);

} // namespace torchere::passes
