// The shape of aten.max: one number. torch's Meta kernel takes a tensor without elements, which eager
// refuses.
#include "lazy/shape_functions.h"

#include <ATen/ops/max.h>

namespace torchere::lazy::shapes {

at::Tensor max(const at::Tensor &self) {
  TORCH_CHECK(self.numel() > 0, "max(): Expected reduction dim to be specified for input.numel() == 0. "
                                "Specify the reduction dim with the 'dim' argument.");
  return at::max(self);
}

} // namespace torchere::lazy::shapes
