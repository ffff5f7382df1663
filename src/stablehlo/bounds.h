// Tensor types with the shapes that inference computes, and the bounds of their unknown dimensions.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace torchere::stablehlo {

/// The greatest size of each dimension, ShapedType::kDynamic where the type states none.
llvm::SmallVector<int64_t> boundsOf(mlir::RankedTensorType type);

/// Makes each of `bounds` the lesser of itself and `type`'s; empty bounds are those of no dimension yet.
void tightenBounds(llvm::SmallVectorImpl<int64_t> &bounds, mlir::RankedTensorType type);

/// `type` with another shape. Its bounds are replaced by `bounds`, one for each dimension or none at all, of
/// which those of unknown dimensions count. An encoding of another kind stays while the rank does.
mlir::RankedTensorType withShape(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> shape,
                                 llvm::ArrayRef<int64_t> bounds = {});

/// Whether no known size of either type exceeds the other's bound. The types have the same rank.
bool fitBounds(mlir::RankedTensorType left, mlir::RankedTensorType right);

} // namespace torchere::stablehlo
