// From tensors to values.
#include "lazy/values.h"

namespace torchere::lazy {

std::vector<Value> valuesOf(at::TensorList tensors) {
  std::vector<Value> values;
  for (const at::Tensor &tensor : tensors) {
    at::Tensor inner = unwrapped(tensor);
    const TensorImpl *ours = implementationOf(inner);
    TORCH_CHECK(ours, "[lazy] not a tensor of the device: got one on ", tensor.device(), ", expected xla");
    values.push_back(ours->value());
    TORCH_CHECK(&values.back().node->device == &values.front().node->device,
                "[lazy] tensors on two devices: got ", values.back().node->device.torchDevice(),
                ", expected ", values.front().node->device.torchDevice());
  }
  return values;
}

} // namespace torchere::lazy
