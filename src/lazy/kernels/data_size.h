// Where a mask holds, for kernels that index by masks.
#pragma once

#include <ATen/core/Tensor.h>

namespace torchere::lazy {

/// The indices of the elements that are not zero, [count, dimensions]; the count is computed and read.
at::Tensor positionsOf(const at::Tensor &mask);

} // namespace torchere::lazy
