// The shapes of aten.histogram.bin_ct: one element a bin, and one edge more.
#include "lazy/shape_functions.h"

namespace torchere::lazy::shapes {

std::tuple<at::Tensor, at::Tensor> histogram_bin_ct(const at::Tensor &self, int64_t bins,
                                                    std::optional<at::ArrayRef<double>> range,
                                                    const std::optional<at::Tensor> &weight, bool) {
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), "torch.histogram: got a tensor of ", self.scalar_type(),
              ", expected floats");
  TORCH_CHECK(bins > 0, "torch.histogram: got ", bins, " bins, expected at least 1");
  TORCH_CHECK(!range || range->size() == 2, "torch.histogram: got a range of ", range ? range->size() : 0,
              " numbers, expected 2");
  TORCH_CHECK(!weight || weight->sizes() == self.sizes(), "torch.histogram: got weights of shape ",
              weight ? weight->sizes() : self.sizes(), ", expected the input's, ", self.sizes());
  return {at::empty({bins}, self.options()), at::empty({bins + 1}, self.options())};
}

} // namespace torchere::lazy::shapes
