// Plans convolutions that the convolution kernels do not take, by products with patches.
#pragma once

#include "cpu/frontend/planner.h"

namespace torchere::cpu {

/// False for types that products have not.
Result<bool> planPatchConvolution(Planner &planner, mlir::Operation *op);

} // namespace torchere::cpu
