// convolution, static and dynamic.
#pragma once

#include "interpreter/call.h"

namespace torchere::interpreter {

/// Convolution of operands 0 and 1; `padding` has low and high of each spatial dimension. InvalidArgument if
/// it makes a size negative.
Result<Values> convolve(const Call &call, const Index &padding);

} // namespace torchere::interpreter
