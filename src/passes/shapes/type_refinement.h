// Re-infers the result types of one op from its operands' types.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"

namespace torchere::passes {

/// Sets the result types of `op` to those inferred from its operands, refined by the old ones. Fails, with a
/// diagnostic, if the two contradict each other or the operands break a constraint of the op.
llvm::LogicalResult refineResultTypes(mlir::Operation *op);

/// Whether no type in a function has an unknown dimension.
bool isStaticFunction(mlir::func::FuncOp function);

} // namespace torchere::passes
