// Composites as calls of what they are made of.
#pragma once

#include "stablehlo/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace torchere::passes {

/// Replaces a composite, which has no regions, by a call of its decomposition.
void replaceByCall(stablehlo::CompositeOp op);

/// Replaces each composite of a function by a call of its decomposition, but those whose names are in `kept`.
/// Fails, with a diagnostic, on a composite with regions, which a function cannot take.
llvm::LogicalResult replaceComposites(mlir::func::FuncOp function, const llvm::StringSet<> &kept);

} // namespace torchere::passes
