// Expansion: what no kernel takes, in terms of what kernels take, before fusion and planning.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Applies all expansions to the function and its regions. Types of arguments and results may change to
/// others with the same bytes.
void expand(mlir::func::FuncOp function);

// One file each.

/// Quantized tensors become the integers that they store.
void expandQuantizedTypes(mlir::func::FuncOp function);
/// Values without elements become constants.
void replaceEmptyValues(mlir::func::FuncOp function);
/// Ops that are made of others: batch norms, `dot`, `map`, and reductions that are reshapes.
void expandOps(mlir::func::FuncOp function);
/// Branches in the regions of reductions, windows, scatters and sorts become selections.
void expandRegionBranches(mlir::func::FuncOp function);
/// Selections of slices become gathers.
void expandSelections(mlir::func::FuncOp function);
/// Convolutions with computed padding become a pad and a convolution without padding.
void expandComputedPadding(mlir::func::FuncOp function);
/// Einsums become products, sums and moves; `rng` numbers made of random words.
void expandEinsums(mlir::func::FuncOp function);
void expandRandomNumbers(mlir::func::FuncOp function);
/// `reduce_precision` becomes arithmetic on bits.
void expandReducedPrecision(mlir::func::FuncOp function);
/// Complex operands of sorts, and sums and products of complex numbers in scatters, reductions and windows,
/// by their parts.
void expandComplexOperands(mlir::func::FuncOp function);
/// Contractions, convolutions, reductions and `iota` of types that they have no kernels for: by conversions,
/// and complex ones by their parts.
void expandTypes(mlir::func::FuncOp function);

} // namespace torchere::cpu
