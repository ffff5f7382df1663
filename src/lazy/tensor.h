// Tensors on the device: torch's TensorImpl of a value, and the conversions between them.
#pragma once

#include "lazy/device.h"

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include <optional>

namespace torchere::lazy {

/// A value as torch's tensor. Users hold wrappers of torch's functionalization, which exchange one such
/// tensor for another when the user writes. It has no memory and no strides other than the contiguous ones.
class TensorImpl final : public c10::TensorImpl {
public:
  explicit TensorImpl(Value value);

  const Value &value() const { return shown; }
  /// Shows another value, which may be of another type.
  void show(Value value);
  /// Of what a kernel of torch's takes for a view: a write to it would be lost.
  void markViewCopy() { viewCopy = true; }
  bool isViewCopy() const { return viewCopy; }

  c10::intrusive_ptr<c10::TensorImpl> shallow_copy_and_detach(const c10::VariableVersion &version,
                                                              bool allowChange) const override;
  c10::intrusive_ptr<c10::TensorImpl> shallow_copy_and_detach(c10::VariableVersion &&version,
                                                              bool allowChange) const override;
  void shallow_copy_from(const c10::intrusive_ptr<c10::TensorImpl> &other) override;

protected:
  const char *tensorimpl_type_name() const override { return "torchere::lazy::TensorImpl"; }

private:
  template <class Version>
  c10::intrusive_ptr<c10::TensorImpl> copyWith(Version &&version, bool allowChange) const;
  Value shown;
  bool viewCopy = false;
};

at::Tensor tensorOf(Value value);
/// The tensor's implementation; null if it is not a tensor of ours (or only a wrapper of one).
TensorImpl *implementationOf(const at::Tensor &tensor);
/// As users hold it: wrapped by functionalization, unless this call is made by it.
at::Tensor wrapped(at::Tensor tensor);
/// The tensor within functionalization's wrapper, with all writes to it.
at::Tensor unwrapped(const at::Tensor &tensor);

} // namespace torchere::lazy
