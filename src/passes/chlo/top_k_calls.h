// Replaces the custom calls by which JAX asks for about the largest or smallest elements.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace torchere::passes {

/// Each `custom_call @ApproxTopK` becomes a stable sort by its comparator, of which the first are kept: as
/// XLA's fallback does, nothing is left out. A call that is not of the form that JAX writes stays.
void replaceTopKCalls(mlir::ModuleOp module);

} // namespace torchere::passes
