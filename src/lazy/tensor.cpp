// Tensors on the device.
#include "lazy/tensor.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <typeinfo>

namespace torchere::lazy {

static constexpr c10::DispatchKeySet keys({c10::DispatchKey::XLA, c10::DispatchKey::AutogradXLA});

TensorImpl::TensorImpl(Value value)
    : c10::TensorImpl(keys, c10::scalarTypeToTypeMeta(value.type()->dtype), value.node->device.torchDevice()),
      shown(std::move(value)) {
  set_sizes_contiguous(shown.type()->sizes);
  set_storage_access_should_throw();
}

template <class Version>
c10::intrusive_ptr<c10::TensorImpl> TensorImpl::copyWith(Version &&version, bool allowChange) const {
  auto copy = c10::make_intrusive<TensorImpl>(shown);
  copy_tensor_metadata(this, copy.get(), std::forward<Version>(version), allowChange);
  return copy;
}

c10::intrusive_ptr<c10::TensorImpl> TensorImpl::shallow_copy_and_detach(const c10::VariableVersion &version,
                                                                        bool allowChange) const {
  return copyWith(version, allowChange);
}

c10::intrusive_ptr<c10::TensorImpl> TensorImpl::shallow_copy_and_detach(c10::VariableVersion &&version,
                                                                        bool allowChange) const {
  return copyWith(std::move(version), allowChange);
}

void TensorImpl::shallow_copy_from(const c10::intrusive_ptr<c10::TensorImpl> &other) {
  auto *source = static_cast<const TensorImpl *>(other.get());
  copy_tensor_metadata(source, this, version_counter(), allow_tensor_metadata_change());
  show(source->shown);
}

void TensorImpl::show(Value value) {
  TORCH_CHECK(
      !viewCopy, "[xla] a kernel of torch's writes to a view that it made, which the device cannot see",
      c10::InferenceMode::is_enabled() ? " in inference_mode(): use no_grad()" : ": compute it on the CPU");
  shown = std::move(value);
  set_sizes_contiguous(shown.type()->sizes);
  data_type_ = c10::scalarTypeToTypeMeta(shown.type()->dtype);
}

at::Tensor tensorOf(Value value) {
  if (!c10::InferenceMode::is_enabled())
    return at::Tensor(c10::make_intrusive<TensorImpl>(std::move(value)));
  // Views made in inference mode may be of tensors that were not; torch wants both to be of one kind.
  c10::InferenceMode off(false);
  return at::Tensor(c10::make_intrusive<TensorImpl>(std::move(value)));
}

TensorImpl *implementationOf(const at::Tensor &tensor) {
  c10::TensorImpl *found = tensor.unsafeGetTensorImpl();
  return typeid(*found) == typeid(TensorImpl) ? static_cast<TensorImpl *>(found) : nullptr;
}

at::Tensor wrapped(at::Tensor tensor) {
  if (c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Functionalize))
    return tensor;
  return at::functionalization::impl::to_functional_tensor(tensor);
}

at::Tensor unwrapped(const at::Tensor &tensor) {
  if (!at::functionalization::impl::isFunctionalTensor(tensor))
    return tensor;
  at::functionalization::impl::sync(tensor);
  return at::functionalization::impl::from_functional_tensor(tensor);
}

} // namespace torchere::lazy
