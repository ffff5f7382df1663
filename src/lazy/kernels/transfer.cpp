// Kernels that move tensors between the host and the device.
#include "lazy/in_place.h"
#include "lazy/native_functions.h"

#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/_to_copy.h>
#include <ATen/ops/copy_ops.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

namespace torchere::lazy {

static const Op toCopy = {
    "aten._to_copy.default",
    "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor"};

static at::Tensor converted(const at::Tensor &self, at::ScalarType dtype) {
  Recorder recorder(toCopy);
  recorder.add(self);
  recorder.add(dtype);
  return recorder.tensor([&] { return onMeta(self).to(dtype); });
}

static const Value &valueOf(const at::Tensor &tensor, const char *op) {
  const TensorImpl *ours = implementationOf(tensor);
  TORCH_CHECK(ours, "[", op, "] not a tensor of the device: got one on ", tensor.device(), ", expected xla");
  return ours->value();
}

static at::Tensor onHost(const at::Tensor &tensor, const char *op) {
  const Value &value = valueOf(tensor, op);
  return value.node->device.download(value);
}

/// PJRT has no copies between the devices of two clients, and not every plugin has those of one.
static Value moved(const at::Tensor &source, at::ScalarType dtype, Device &destination, const char *op) {
  return destination.upload(onHost(source, op).to(dtype));
}

at::Tensor _to_copy(const at::Tensor &self, std::optional<at::ScalarType> dtype,
                    std::optional<at::Layout> layout, std::optional<at::Device> device,
                    std::optional<bool> /*pinMemory*/, bool nonBlocking,
                    std::optional<at::MemoryFormat> format) {
  constexpr const char *name = "aten._to_copy.default";
  at::Device target = device.value_or(self.device());
  at::ScalarType wanted = dtype.value_or(self.scalar_type());
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided && self.layout() == at::kStrided, "[", name,
              "] no such layout on xla: expected torch.strided");
  if (!self.device().is_xla())
    return wrapped(tensorOf(Device::get(target.index()).upload(self.to(at::kCPU, wanted))));
  at::Tensor source = unwrapped(self);
  if (!target.is_xla())
    return onHost(source, name).to(target, wanted, nonBlocking, /*copy=*/false, format);
  Device &destination = Device::get(target.index());
  if (destination.torchDevice() != source.device())
    return tensorOf(moved(source, wanted, destination, name));
  return converted(source, wanted);
}

/// The source's values, in the dtype and shape of self; the source may be on the host.
at::Tensor copy(const at::Tensor &self, const at::Tensor &source, bool /*nonBlocking*/) {
  static constexpr Op op = {"aten.copy.default",
                            "aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor"};
  at::Tensor values = unwrapped(source);
  Device &device = valueOf(self, op.name).node->device;
  if (!values.device().is_xla())
    values = tensorOf(device.upload(values.to(at::kCPU, self.scalar_type())));
  else if (values.device() != device.torchDevice())
    values = tensorOf(moved(values, self.scalar_type(), device, op.name));
  Recorder recorder(op);
  recorder.add(self);
  recorder.add(values);
  return recorder.tensor([&] {
    TORCH_CHECK(at::is_expandable_to(values.sizes(), self.sizes()), "[", op.name,
                "] the shape does not broadcast: got ", values.sizes(), ", expected ", self.sizes());
    return onMeta(self);
  });
}

at::Tensor _copy_from(const at::Tensor &self, const at::Tensor &destination, bool nonBlocking) {
  constexpr const char *name = "aten._copy_from.default";
  if (!destination.device().is_xla())
    return destination.copy_(onHost(unwrapped(self), name), nonBlocking);
  TensorImpl *target = implementationOf(destination);
  TORCH_CHECK(target, "[", name, "] a write to a tensor that functionalization wraps: expected its value");
  at::ScalarType dtype = destination.scalar_type();
  if (self.device() == destination.device())
    target->show(implementationOf(converted(unwrapped(self), dtype))->value());
  else
    target->show(target->value().node->device.upload(self.to(at::kCPU, dtype)));
  return destination;
}

/// The target may be a tensor of the host.
static at::Tensor &copyTo(c10::DispatchKeySet keys, at::Tensor &self, const at::Tensor &source,
                          bool nonBlocking) {
  if (self.is_xla())
    return InPlaceKernel<at::_ops::copy_, copy, WriteCheck::Memory>::call(keys, self, source, nonBlocking);
  lazy::_copy_from(source, self, nonBlocking);
  return self;
}

TORCH_LIBRARY_IMPL(aten, XLA, library) {
  library.impl("copy_", TORCH_FN(copyTo));
}
TORCH_LIBRARY_IMPL(aten, AutogradXLA, library) {
  library.impl("copy_", TORCH_FN((AutogradKernel<at::_ops::copy_>::call)));
}

at::Tensor _copy_from_and_resize(const at::Tensor &self, const at::Tensor &destination) {
  return lazy::_copy_from(self, destination, false);
}

at::Scalar _local_scalar_dense(const at::Tensor &self) {
  return at::_local_scalar_dense(onHost(unwrapped(self), "aten._local_scalar_dense.default"));
}

} // namespace torchere::lazy
