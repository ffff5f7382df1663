// The rules of broadcasts along dimensions, shared by broadcast_in_dim and dynamic_broadcast_in_dim.
#pragma once

#include "stablehlo/constraint.h"

namespace torchere::stablehlo {

/// Checks the constraints (C1) to (C6), which both ops have.
llvm::LogicalResult verifyBroadcast(const Reporter &reporter, mlir::RankedTensorType operand,
                                    mlir::RankedTensorType result, llvm::ArrayRef<int64_t> dimensions);

} // namespace torchere::stablehlo
