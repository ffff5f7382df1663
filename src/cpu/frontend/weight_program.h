// What of a program depends on its weights alone, as a program of its own.
#pragma once

#include "cpu/frontend/compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// By argument: whether it is marked as a weight, and not donated.
std::vector<bool> weightsOf(mlir::func::FuncOp entry, const std::vector<bool> &isDonated);

/// Whether another run of the op gives the same, and nobody sees how often it runs.
bool isRepeatable(mlir::Operation *op);

/// Moves what is computed from arguments with `isWeight` and constants alone to a new function of the module,
/// with the entry's arguments. Its results become further arguments of the entry. What costs nothing stays:
/// views, and elementwise ops on repeated elements, which would take more memory than what they are made of.
/// Null if nothing is left to move.
mlir::func::FuncOp splitWeights(mlir::func::FuncOp entry, const std::vector<bool> &isWeight);

/// Plans that function, which may be null, and copies of views that the main plan needs, as further arguments
/// of the latter in this order. Sets compiled.weights and what belongs to it if there is anything to compute.
Status planWeights(CompiledModule &compiled, mlir::func::FuncOp weights, const std::vector<View> &copies,
                   const Target &target);

} // namespace torchere::cpu
