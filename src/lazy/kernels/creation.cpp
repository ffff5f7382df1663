// Kernels that make tensors without operands.
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/div.h>
#include <ATen/ops/i0.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <c10/core/DefaultDtype.h>

namespace torchere::lazy {

static at::ScalarType dtypeOr(std::optional<at::ScalarType> dtype) {
  return dtype.value_or(c10::get_default_dtype_as_scalartype());
}

static void checkLayout(const char *op, std::optional<at::Layout> layout) {
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided, "[", op, "] no such layout on xla: got ",
              *layout, ", expected torch.strided");
}

static at::Tensor zeros(c10::IntArrayRef sizes, at::ScalarType dtype, std::optional<at::Device> device) {
  static constexpr Op full = {
      "aten.full.default",
      "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor"};
  for (int64_t size : sizes)
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  Recorder recorder(full, Device::of(device));
  recorder.add(sizes);
  recorder.add(int64_t{0});
  recorder.add(dtype);
  return wrapped(recorder.tensor([&] { return at::detail::empty_meta(sizes, dtype); }));
}

// Memory that was never written holds zeros, so that what a program computes does not depend on it.
at::Tensor empty_memory_format(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                               std::optional<at::Layout> layout, std::optional<at::Device> device,
                               std::optional<bool> /*pinMemory*/,
                               std::optional<at::MemoryFormat> /*format*/) {
  checkLayout("aten.empty.memory_format", layout);
  return zeros(size, dtypeOr(dtype), device);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef /*stride*/,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                         std::optional<at::Device> device, std::optional<bool> /*pinMemory*/) {
  checkLayout("aten.empty_strided.default", layout);
  return zeros(size, dtypeOr(dtype), device);
}

at::Tensor zero(const at::Tensor &self) {
  return zeros(self.sizes(), self.scalar_type(), self.device());
}

at::Tensor kaiser_window_beta(int64_t length, bool periodic, double beta, std::optional<at::ScalarType> dtype,
                              std::optional<at::Layout> layout, std::optional<at::Device> device,
                              std::optional<bool> /*pinMemory*/) {
  checkLayout("aten.kaiser_window.beta", layout);
  at::ScalarType given = dtypeOr(dtype);
  at::TensorOptions options = at::TensorOptions().device(Device::of(device).torchDevice()).dtype(given);
  TORCH_CHECK(at::isFloatingType(given) || at::isComplexType(given),
              "kaiser_window expects floating point dtypes, got: ", options);
  TORCH_CHECK(length >= 0, "kaiser_window requires non-negative window_length, got window_length=", length);
  if (length <= 1)
    return at::ones({length}, options);
  options = options.dtype(at::isReducedFloatingType(given) ? at::kFloat : given);
  double middle = static_cast<double>(periodic ? length : length - 1) / 2;
  at::Tensor place = at::div(at::sub(at::arange(length, options), middle), middle);
  at::Tensor height = at::i0(at::mul(at::sqrt(at::rsub(at::square(place), 1)), beta));
  return at::div(height, at::i0(at::scalar_tensor(beta, options))).to(given);
}

at::Tensor kaiser_window_periodic(int64_t length, bool periodic, std::optional<at::ScalarType> dtype,
                                  std::optional<at::Layout> layout, std::optional<at::Device> device,
                                  std::optional<bool> pinMemory) {
  return kaiser_window_beta(length, periodic, 12.0, dtype, layout, device, pinMemory);
}

at::Tensor kaiser_window(int64_t length, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout, std::optional<at::Device> device,
                         std::optional<bool> pinMemory) {
  return kaiser_window_beta(length, /*periodic=*/true, 12.0, dtype, layout, device, pinMemory);
}

} // namespace torchere::lazy
