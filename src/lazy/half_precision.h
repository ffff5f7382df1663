// Half precision in kernels that are made of other ops: computed in float32, as on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

namespace torchere::lazy {

/// Float32 of half precision; other tensors as they are.
inline at::Tensor widened(const at::Tensor &tensor) {
  return at::isReducedFloatingType(tensor.scalar_type()) ? tensor.to(at::kFloat) : tensor;
}

} // namespace torchere::lazy
