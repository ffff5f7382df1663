// Parallel loops: loops of little work a turn that do not need each other's results, such as those of the two
// directions of a recurrent layer, are brought together, and run at the same time.
#pragma once

#include "stablehlo/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace torchere::cpu {

/// Places such loops one after the other. What they are computed from comes before all of them, what needs
/// their results behind.
void placeLoopsTogether(mlir::func::FuncOp function);

/// The loops of the block that it would place together, and each that stays alone.
std::vector<llvm::SmallVector<stablehlo::WhileOp>> loopsThatMayRunTogether(mlir::Block &block);

/// The loops from this one on that were placed together.
llvm::SmallVector<stablehlo::WhileOp> loopsBeside(stablehlo::WhileOp first);

/// The bytes that the ops of a turn read and write; of slices, those of the slice.
int64_t turnBytes(stablehlo::WhileOp loop);

} // namespace torchere::cpu
