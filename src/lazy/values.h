// The values of tensors that programs pass to the functions of torch.ops.torchere_lazy.
#pragma once

#include "lazy/tensor.h"

#include <vector>

namespace torchere::lazy {

/// Of tensors on one device, with all writes to them.
std::vector<Value> valuesOf(at::TensorList tensors);

} // namespace torchere::lazy
