// The shapes of aten.fake_quantize_per_tensor_affine_cachemask: those of the input.
#include "lazy/shape_functions.h"

#include <ATen/ops/empty_like.h>

namespace torchere::lazy::shapes {

std::tuple<at::Tensor, at::Tensor>
fake_quantize_per_tensor_affine_cachemask(const at::Tensor &self, double /*scale*/, int64_t /*zeroPoint*/,
                                          int64_t /*smallest*/, int64_t /*largest*/) {
  return {at::empty_like(self), at::empty_like(self, self.options().dtype(at::kBool))};
}

} // namespace torchere::lazy::shapes
