// Replaces composites by calls to their decompositions.
#pragma once

#include "stablehlo/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace torchere::passes {

/// Replaces a composite, which has no regions, by a call to its decomposition.
void replaceByCall(stablehlo::CompositeOp op);

/// Replaces each composite of a function by a call to its decomposition, except those named in `kept`.
/// Fails, with a diagnostic, on a composite with regions, which a function cannot take.
llvm::LogicalResult replaceComposites(mlir::func::FuncOp function, const llvm::StringSet<> &kept);

} // namespace torchere::passes
