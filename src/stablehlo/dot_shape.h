// The shape rule of dot_general.
#pragma once

#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

namespace torchere::stablehlo {

/// The result's sizes, once the constraints of the dimension numbers hold.
llvm::FailureOr<llvm::SmallVector<int64_t>> inferDotGeneral(DotGeneralOp op);

} // namespace torchere::stablehlo
