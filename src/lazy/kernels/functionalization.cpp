// Kernels at the border of torch's functionalization.
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/FunctionalTensorWrapper.h>

namespace torchere::lazy {

at::Tensor lift(const at::Tensor &tensor) {
  return wrapped(tensor);
}

at::Tensor lift_fresh(const at::Tensor &tensor) {
  return wrapped(tensor);
}

} // namespace torchere::lazy
