// What autograd knows of views: of which tensor they are, and how they are made again where that one was
// written.
#pragma once

#include "lazy/in_front.h"
#include "lazy/view.h"

namespace torchere::lazy {

/// A view that users hold, made of `base` as users hold it, with autograd's record of it: what torch's
/// kernels of ADInplaceOrView add. Theirs copies the record of `base`, and it is as long as the chain of
/// views.
at::Tensor recordedView(const at::Tensor &base, const at::Tensor &made, std::shared_ptr<View> view);

/// Whether autograd's own kernel has something to do for an op on the tensor.
bool isDifferentiated(const at::Tensor &tensor);

/// Keys of a call that autograd's kernel passes on to the device's, which records the view: with
/// ADInplaceOrView left out, and the CPU put in as a mark, which no call on the device has and which comes
/// after it.
inline c10::DispatchKeySet toRecordedView(c10::DispatchKeySet keys) {
  return keys.remove(c10::DispatchKey::ADInplaceOrView).add(c10::DispatchKey::CPU);
}
inline bool isToRecordedView(c10::DispatchKeySet keys) {
  return keys.has(c10::DispatchKey::CPU);
}

} // namespace torchere::lazy
