// Takes tokens and tuples out of a function: what remains are its tensors.
#pragma once

#include "base/error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Ops that take and give tuples and tokens do without them; what only makes them is erased. The order of ops
/// stays, which is all that tokens say where nothing runs out of order. Unimplemented, with nothing changed,
/// if an op with effects outside of the program has them, or the function itself.
Status flattenValues(mlir::func::FuncOp function);

/// Tokens that the entry function takes and gives, as JAX hands them from one call to the next, become
/// tensors without elements: calls run in their order.
void replaceEntryTokens(mlir::func::FuncOp entry);

} // namespace torchere::cpu
