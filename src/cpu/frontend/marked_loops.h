// Loops that say what they compute, and calls by which frameworks ask for it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Calls of the engine's kernels take the place of loops that are marked (stablehlo/loop_attributes.h) and of
/// the form that the mark stands for, and of calls of `LuDecomposition`, as JAX asks for LU factors.
void replaceMarkedLoops(mlir::func::FuncOp function);

} // namespace torchere::cpu
