// The assertions about shapes that JAX leaves in programs with dynamic shapes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::passes {

/// Checks and erases each `custom_call @shape_assertion(%condition, %inputs...) {error_message = "..."}`.
/// Fails, with a diagnostic: with the message, {0} and so on replaced by the inputs, where the condition is
/// false; where it is no constant, which shape refinement would have made it; and where the call is
/// malformed.
llvm::LogicalResult checkShapeAssertions(mlir::func::FuncOp function);

} // namespace torchere::passes
