// The shapes of aten.geqrf: the factors have the matrix's shape, and there is one scale for each reflection.
#include "lazy/shape_functions.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

namespace torchere::lazy::shapes {

std::tuple<at::Tensor, at::Tensor> geqrf(const at::Tensor &self) {
  TORCH_CHECK(self.dim() >= 2, "torch.geqrf: input must have at least 2 dimensions.");
  std::vector<int64_t> scales = self.sizes().vec();
  scales.pop_back();
  scales.back() = std::min(self.size(-2), self.size(-1));
  return {at::empty_like(self), at::empty(scales, self.options())};
}

} // namespace torchere::lazy::shapes
