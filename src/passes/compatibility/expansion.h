// What an older version of StableHLO lacks, in the ops that it has.
#pragma once

#include "vhlo/version.h"

#include "mlir/IR/BuiltinOps.h"

namespace torchere::passes {

/// Rewrites a module for consumers of an older StableHLO. Before 0.19.0 there are no composites: calls of
/// their decompositions. Before 1.1.0, gather and scatter have no batching dimensions: iotas joined to the
/// indices take their place. Before 1.4.0 there is no tan: a sine over a cosine. Before 1.9.0, locations are
/// points in a file, not ranges. Before 1.16.0, replica groups are no axes of a mesh: they are listed. What
/// cannot be rewritten (batching dimensions of unknown size, say) stays, for the writer of the artifact to
/// refuse.
void expandForVersion(mlir::ModuleOp module, const vhlo::Version &target);

/// Whether expandForVersion does anything for the target.
bool mayNeedExpansion(const vhlo::Version &target);

/// Replaces a gather, dynamic_gather or scatter with batching dimensions by one without.
void expandBatchingDimensions(mlir::Operation *op);

} // namespace torchere::passes
