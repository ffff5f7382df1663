// The shapes of aten.histogram.bins_tensor: one element between two edges, and the edges.
#include "lazy/shape_functions.h"

namespace torchere::lazy::shapes {

std::tuple<at::Tensor, at::Tensor> histogram_bins_tensor(const at::Tensor &self, const at::Tensor &bins,
                                                         const std::optional<at::Tensor> &weight,
                                                         bool density) {
  TORCH_CHECK(bins.dim() == 1 && bins.size(0) >= 2, "torch.histogram: got edges of shape ", bins.sizes(),
              ", expected one dimension of at least 2 elements");
  TORCH_CHECK(bins.scalar_type() == self.scalar_type(), "torch.histogram: got edges of ", bins.scalar_type(),
              ", expected the input's dtype, ", self.scalar_type());
  return histogram_bin_ct(self, bins.size(0) - 1, std::nullopt, weight, density);
}

} // namespace torchere::lazy::shapes
