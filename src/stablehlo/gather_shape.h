// The rules of gather's dimension numbers, shared by gather and dynamic_gather.
#pragma once

#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

namespace torchere::stablehlo {

struct GatherShape {
  mlir::RankedTensorType operand;
  mlir::RankedTensorType indices;
  GatherDimensionNumbersAttr numbers;
  llvm::SmallVector<int64_t> sliceSizes; ///< may be unknown, in dynamic_gather
};

/// Checks the constraints of gather, by its numbers, and infers the result's type.
llvm::FailureOr<mlir::RankedTensorType> inferGather(const Reporter &reporter, const GatherShape &gather);

/// The size of the index vectors: of the dimension of the indices that holds them, or 1 if none does.
int64_t indexVectorSize(mlir::RankedTensorType indices, int64_t indexVectorDim);

/// The sizes of the indices' other dimensions, in order.
llvm::SmallVector<int64_t> batchSizes(mlir::RankedTensorType indices, int64_t indexVectorDim);

/// The dimensions of both lists, the first's first.
llvm::SmallVector<int64_t> joined(llvm::ArrayRef<int64_t> first, llvm::ArrayRef<int64_t> second);

} // namespace torchere::stablehlo
