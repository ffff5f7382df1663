// Static forms for dynamic ops whose types are already static.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::passes {

/// Replaces each dynamic op of a function by its static form where the tensors that determine its shape are
/// constants, and drops the shape operands of custom calls that no longer need them. Types are unchanged:
/// where a size is known only from constants, nothing happens (shape refinement does that). Fails, with a
/// diagnostic, if the constants are invalid for the op.
llvm::LogicalResult canonicalizeDynamism(mlir::func::FuncOp function);

} // namespace torchere::passes
