// In-place ops.
#include "lazy/in_place.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/MemoryOverlap.h>

namespace torchere::lazy {

at::Tensor writableValue(const at::Tensor &self) {
  if (!self.key_set().has(c10::DispatchKey::Functionalize))
    return implementationOf(self) ? self : at::Tensor();
  at::functionalization::impl::sync(self);
  const at::Tensor *value = shownValue(self);
  return value ? *value : at::Tensor();
}

bool write(const at::Tensor &self, const at::Tensor &value, const at::Tensor &result, WriteCheck check) {
  if (check != WriteCheck::Fill)
    at::assert_no_internal_overlap(value);
  TensorImpl &target = *implementationOf(value);
  const TensorImpl &source = *implementationOf(result);
  const TensorType &has = *target.value().type(), &gets = *source.value().type();
  if (&has != &gets) {
    if (check != WriteCheck::Pointwise)
      return false;
    TORCH_CHECK(has.sizes == gets.sizes, "output with shape ", c10::IntArrayRef(has.sizes),
                " doesn't match the broadcast shape ", c10::IntArrayRef(gets.sizes));
    TORCH_CHECK(c10::canCast(gets.dtype, has.dtype), "result type ", gets.dtype,
                " can't be cast to the desired output type ", has.dtype);
    return false;
  }
  if (!self.key_set().has(c10::DispatchKey::Functionalize)) {
    target.show(source.value());
    return true;
  }
  at::functionalization::impl::replace_(self, result);
  at::functionalization::impl::commit_update(self);
  at::functionalization::impl::sync(self);
  return true;
}

c10::List<std::optional<at::Tensor>> within(const c10::List<std::optional<at::Tensor>> &tensors) {
  c10::List<std::optional<at::Tensor>> values;
  for (size_t i = 0; i < tensors.size(); ++i)
    values.push_back(within(tensors.get(i)));
  return values;
}

} // namespace torchere::lazy
