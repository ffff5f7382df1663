// The static forms of dynamic ops, once the tensors that determine their shapes are constants.
#pragma once

#include "mlir/IR/Operation.h"

namespace torchere::passes {

/// Whether an op has a static form.
bool isDynamic(mlir::Operation *op);

/// Replaces a dynamic op by its static form and returns that; returns `op` itself if it is not dynamic or
/// what determines its shape is not constant. Fails, with a diagnostic, if the constants make no valid op.
llvm::FailureOr<mlir::Operation *> makeStatic(mlir::Operation *op);

} // namespace torchere::passes
