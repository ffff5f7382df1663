// Expands what an older version of StableHLO lacks into ops that it has.
#pragma once

#include "vhlo/version.h"

#include "mlir/IR/BuiltinOps.h"

namespace torchere::passes {

/// Rewrites a module for consumers of an older StableHLO. Before 0.19.0 composites become calls to
/// their decompositions; before 1.1.0 batching dimensions of gather and scatter become iotas concatenated to
/// the indices; before 1.4.0 tan becomes a sine over a cosine; before 1.9.0 ranges in locations become
/// points; before 1.16.0 replica groups given as axes of a mesh are listed. What cannot be rewritten
/// (batching dimensions of unknown size, say) is kept, and rejected by the writer of the artifact.
void expandForVersion(mlir::ModuleOp module, const vhlo::Version &target);

/// Whether expandForVersion does anything for the target.
bool mayNeedExpansion(const vhlo::Version &target);

/// Replaces a gather, dynamic_gather or scatter with batching dimensions by one without.
void expandBatchingDimensions(mlir::Operation *op);

} // namespace torchere::passes
