// Fusion: subgraphs that one kernel computes become calls of it, before planning.
#pragma once

#include "cpu/kernels/isa.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Rewrites every place in the function and its regions that it matches. Returns how many.
using Fusion = int64_t (*)(mlir::func::FuncOp function);

/// Applies all fusions, one after the other, and logs how often each matched. Results stay the same up to
/// rounding.
void fuse(mlir::func::FuncOp function, Isa isa);

/// Applies those fusions that need no sizes, before they are bound.
void fuseOpen(mlir::func::FuncOp function);

/// Values that are computed several times are computed once.
void joinCommonValues(mlir::func::FuncOp function);

// One file each.
int64_t fuseAttentions(mlir::func::FuncOp function);
int64_t fuseBatchNorms(mlir::func::FuncOp function);
int64_t fuseBisections(mlir::func::FuncOp function);
int64_t fuseCausalMasks(mlir::func::FuncOp function);
int64_t fuseChannelFactors(mlir::func::FuncOp function);
int64_t fuseChosenMatrices(mlir::func::FuncOp function);
int64_t fuseComplexParts(mlir::func::FuncOp function);
int64_t fuseDeadTaps(mlir::func::FuncOp function);
int64_t fuseDilatedPoints(mlir::func::FuncOp function);
int64_t fuseDilatedDepths(mlir::func::FuncOp function);
int64_t fuseDots(mlir::func::FuncOp function);
int64_t fuseEarlyActivations(mlir::func::FuncOp function);
int64_t fuseErrorFunctions(mlir::func::FuncOp function);
int64_t fuseEvenSlices(mlir::func::FuncOp function);
int64_t fuseExtrema(mlir::func::FuncOp function);
int64_t fuseGelu(mlir::func::FuncOp function);
int64_t fuseInputPadding(mlir::func::FuncOp function);
int64_t fuseInterpolations(mlir::func::FuncOp function);
int64_t fuseNarrowValues(mlir::func::FuncOp function);
int64_t fuseNorms(mlir::func::FuncOp function);
int64_t fuseOwnPlaces(mlir::func::FuncOp function);
int64_t fuseParallelConvolutions(mlir::func::FuncOp function);
int64_t fusePlaceMasks(mlir::func::FuncOp function);
int64_t fuseRotary(mlir::func::FuncOp function);
int64_t fuseSiblingDots(mlir::func::FuncOp function);
int64_t fuseSoftmax(mlir::func::FuncOp function);
int64_t fuseSilu(mlir::func::FuncOp function);
int64_t fuseThreeFry(mlir::func::FuncOp function);
int64_t fuseWholeWindows(mlir::func::FuncOp function);
int64_t fuseWideIslands(mlir::func::FuncOp function);

/// Lays convolutions and what lies between them out in blocks of channels, for kernels of the instruction
/// set.
int64_t fuseConvolutions(mlir::func::FuncOp function, Isa isa);

/// Convolutions on blocks take the factors of their input's channels, which are of each image, from 0 to 1.
int64_t fuseGates(mlir::func::FuncOp function, Isa isa);

/// Puts one call in place of a convolution on blocks and of the depthwise one that alone reads its result.
int64_t fuseConvolutionPairs(mlir::func::FuncOp function, Isa isa);

} // namespace torchere::cpu
