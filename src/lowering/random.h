// Random numbers from the program's generator: the blocks of its stream, and distributions that are made of
// them.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

// Block n of the stream is Threefry-2x32 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1,
// 2, 3", 2011), of 20 rounds, of the two halves of n, by the two halves of the seed; low halves come first.
// All of it is integer arithmetic, and so the same on every plugin. docs/random_numbers.md says which op
// takes what.

/// The generator of a function that takes the program's `state`, i64[2]: the seed and the number of the next
/// block.
Generator openGenerator(Context &cx, mlir::Value state);
/// The number of the block that the next op begins with, 0-d i64.
mlir::Value nextBlock(Context &cx, const Generator &generator);
/// The state that the function leaves.
mlir::Value stateAfter(Context &cx, mlir::Value state, const Generator &generator);

/// The bits of each element as another dtype of that width.
mlir::Value bitcast(Context &cx, mlir::Value value, DType dtype);

/// The blocks that are next, ui64[count].
Result<mlir::Value> randomBlocks(Context &cx, Dim count);
/// Halves of them, ui32[count]: first the low ones of half as many blocks, then the high ones.
Result<mlir::Value> randomWords(Context &cx, Dim count);

// Tensors of real numbers. The half dtypes get float32, whose values round to the dtype's without a change of
// the distribution.

/// How many digits the significand of a floating point dtype has, the implicit one with them: 24 for float32.
int mantissaBits(DType dtype);

/// From [0, 1): multiples of 2^-mantissaBits.
Result<mlir::Value> uniformNumbers(Context &cx, DType dtype, llvm::ArrayRef<Dim> shape);
/// From (0, 1], as fine towards 0 as 32 bits are, 64 for float64: for logarithms.
Result<mlir::Value> positiveNumbers(Context &cx, DType dtype, llvm::ArrayRef<Dim> shape);
/// Of mean 0 and variance 1, up to 6.7 standard deviations, 9.4 for float64.
Result<mlir::Value> normalNumbers(Context &cx, DType dtype, llvm::ArrayRef<Dim> shape);
/// Of mean 1; neither 0 nor infinite.
Result<mlir::Value> exponentialNumbers(Context &cx, DType dtype, llvm::ArrayRef<Dim> shape);

/// Bools that hold with a probability, which is rounded to a multiple of 2^-32. 0 and 1 draw nothing.
Result<mlir::Value> trials(Context &cx, llvm::ArrayRef<Dim> shape, double probability);

struct Dropout {
  mlir::Value value;
  mlir::Value kept; ///< bools
};
/// Elements are 0 with probability `p`, and those that are kept divided by 1 - p. InvalidArgument for a `p`
/// that is no probability.
Result<Dropout> dropOut(Context &cx, mlir::Value value, double p);

} // namespace torchere::lowering
