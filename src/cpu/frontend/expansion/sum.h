// Sums over dimensions and along them, as ops.
#pragma once

#include "mlir/IR/Builders.h"

namespace torchere::cpu {

/// The sum of a tensor's numbers over these dimensions, in their type.
mlir::Value sumOver(mlir::OpBuilder &builder, mlir::Location location, mlir::Value numbers,
                    llvm::ArrayRef<int64_t> dimensions);

/// Each number and those before it along the dimension.
mlir::Value runningSum(mlir::OpBuilder &builder, mlir::Location location, mlir::Value numbers,
                       int64_t dimension);

} // namespace torchere::cpu
