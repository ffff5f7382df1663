// Slices of a gather where its operand has no elements.
#pragma once

#include "stablehlo/dialect.h"

namespace torchere::passes {

/// The slice sizes of a gather, with 0 for a collapsed or batching dimension of 1 along which the operand is
/// found to have no elements, if the result may have none either: a slice must fit its operand (C21) even
/// where none is taken. A result with elements keeps the sizes, and is refused.
llvm::SmallVector<int64_t> sliceSizesWithin(mlir::RankedTensorType operand, mlir::RankedTensorType indices,
                                            stablehlo::GatherDimensionNumbersAttr numbers,
                                            llvm::ArrayRef<int64_t> sliceSizes);

} // namespace torchere::passes
