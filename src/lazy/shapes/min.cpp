// The shape of aten.min: one number. torch's Meta kernel takes a tensor without elements, which eager
// refuses.
#include "lazy/shape_functions.h"

#include <ATen/ops/min.h>

namespace torchere::lazy::shapes {

at::Tensor min(const at::Tensor &self) {
  TORCH_CHECK(self.numel() > 0, "min(): Expected reduction dim to be specified for input.numel() == 0. "
                                "Specify the reduction dim with the 'dim' argument.");
  return at::min(self);
}

} // namespace torchere::lazy::shapes
