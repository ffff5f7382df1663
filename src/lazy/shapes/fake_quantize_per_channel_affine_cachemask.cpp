// The shapes of aten.fake_quantize_per_channel_affine_cachemask: those of the input. It refuses what eager
// does.
#include "lazy/shape_functions.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty_like.h>

namespace torchere::lazy::shapes {

std::tuple<at::Tensor, at::Tensor> fake_quantize_per_channel_affine_cachemask(const at::Tensor &self,
                                                                              const at::Tensor &scale,
                                                                              const at::Tensor &zeroPoint,
                                                                              int64_t axis, int64_t smallest,
                                                                              int64_t largest) {
  TORCH_CHECK(scale.dim() == 1, "scale should be a 1-D tensor");
  TORCH_CHECK(zeroPoint.dim() == 1, "zero point should be a 1-D tensor");
  TORCH_CHECK(scale.numel() == zeroPoint.numel(), "scale and zero-point need to have the same dimensions");
  TORCH_CHECK(scale.numel() == self.size(c10::maybe_wrap_dim(axis, self.dim())),
              "dimensions of scale and zero-point are not consistent with input tensor");
  TORCH_CHECK(smallest <= largest, "`quant_min` should be less than or         equal to `quant_max`.");
  return {at::empty_like(self), at::empty_like(self, self.options().dtype(at::kBool))};
}

} // namespace torchere::lazy::shapes
