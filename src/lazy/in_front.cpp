// Which calls pass torch's functionalization by.
#include "lazy/in_front.h"

#include <ATen/FunctionalTensorWrapper.h>

namespace torchere::lazy {

static constexpr c10::DispatchKeySet wrapperKeys({c10::DispatchKey::Functionalize, c10::DispatchKey::XLA});

bool goesPastFunctionalization(c10::DispatchKeySet keys, const at::Tensor &self) {
  if (!self.key_set().has_all(wrapperKeys))
    return false;
  keys = keys.remove(c10::DispatchKey::Functionalize) & c10::after_ADInplaceOrView_keyset;
  return keys.highestPriorityTypeId() == c10::DispatchKey::XLA;
}

c10::DispatchKeySet keysOfAutograd(c10::DispatchKeySet keys, bool isPastFunctionalization) {
  // AutogradOther has the same kernel as all keys of autograd but this one. Torch's Python dispatcher passes
  // keys on that come before autograd's: with them it would call this kernel again.
  keys = (keys & c10::after_autograd_keyset).add(c10::DispatchKey::AutogradOther);
  return isPastFunctionalization ? keys.remove(c10::DispatchKey::Functionalize) : keys;
}

const at::Tensor *shownValue(const at::Tensor &tensor) {
  if (!tensor.key_set().has(c10::DispatchKey::Functionalize))
    return nullptr;
  const at::Tensor &value = at::functionalization::impl::unsafeGetFunctionalWrapper(tensor)->value();
  return implementationOf(value) ? &value : nullptr;
}

} // namespace torchere::lazy
