// The shape rule of dot_general.
#pragma once

#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

namespace torchere::stablehlo {

/// The result's sizes, once the constraints of the dimension numbers hold: those of the batching dimensions,
/// then what remains of lhs, then of rhs.
llvm::FailureOr<llvm::SmallVector<int64_t>> inferDot(const Reporter &reporter, mlir::RankedTensorType lhs,
                                                     mlir::RankedTensorType rhs,
                                                     DotDimensionNumbersAttr numbers);
llvm::FailureOr<llvm::SmallVector<int64_t>> inferDotGeneral(DotGeneralOp op);

} // namespace torchere::stablehlo
