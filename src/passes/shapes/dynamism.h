// Static forms for dynamic ops whose types are static already.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::passes {

/// Replaces each dynamic op of a function by its static form where the tensors that determine its shape are
/// constants, and drops the shape operands of custom calls that no longer need them. Types stay as they are:
/// where only the constants know a size, nothing changes (that is for shape refinement). Fails, with a
/// diagnostic, if constants make no valid op.
llvm::LogicalResult canonicalizeDynamism(mlir::func::FuncOp function);

} // namespace torchere::passes
