// The shape of aten.fractional_max_pool3d_backward: that of the input.
#include "lazy/shape_functions.h"

#include <ATen/ops/empty_like.h>

namespace torchere::lazy::shapes {

at::Tensor fractional_max_pool3d_backward(const at::Tensor & /*gradient*/, const at::Tensor &self,
                                          at::IntArrayRef /*kernelSize*/, at::IntArrayRef /*outputSize*/,
                                          const at::Tensor & /*indices*/) {
  return at::empty_like(self);
}

} // namespace torchere::lazy::shapes
