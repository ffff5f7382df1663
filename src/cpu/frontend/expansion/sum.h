// Sums over dimensions, as ops.
#pragma once

#include "mlir/IR/Builders.h"

namespace torchere::cpu {

/// The sum of a tensor's numbers over these dimensions, in their type.
mlir::Value sumOver(mlir::OpBuilder &builder, mlir::Location location, mlir::Value numbers,
                    llvm::ArrayRef<int64_t> dimensions);

} // namespace torchere::cpu
