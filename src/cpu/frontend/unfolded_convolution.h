// Plans convolutions that blocks of channels do not suit.
#pragma once

#include "cpu/frontend/planner.h"

namespace torchere::cpu {

/// Of any form: dilated inputs, few channels a group, batch groups, reversed windows, any number of axes, all
/// types that products have. False for complex numbers and floats of 8 bits.
Result<bool> planUnfoldedConvolution(Planner &planner, mlir::Operation *op);

} // namespace torchere::cpu
