// In-place ops on tensors that users hold: the op's own kernel, then the write. torch's functionalization
// does the same after a call of the op's Meta kernel, which costs several times as much as the trace; it
// still sees the calls that need it.
#pragma once

#include "lazy/in_front.h"
#include "lazy/recorder.h"

namespace torchere::lazy {

/// What a kernel of the device computes with in place of `self`; undefined if it cannot write there.
at::Tensor writableValue(const at::Tensor &self);

/// What eager refuses of a write to `self`.
enum class WriteCheck : uint8_t {
  Fill,     ///< nothing, not even elements that share memory
  Memory,   ///< those
  Pointwise ///< a result of another shape or dtype as well
};
/// Writes the result to `self` if it has its type. Throws what eager does, or returns false.
bool write(const at::Tensor &self, const at::Tensor &value, const at::Tensor &result, WriteCheck check);

inline at::Tensor within(const at::Tensor &tensor) {
  return tensor.defined() ? unwrapped(tensor) : tensor;
}
inline std::optional<at::Tensor> within(const std::optional<at::Tensor> &tensor) {
  return tensor ? std::optional(within(*tensor)) : std::nullopt;
}
c10::List<std::optional<at::Tensor>> within(const c10::List<std::optional<at::Tensor>> &tensors);
template <class T> const T &within(const T &value) {
  return value;
}

/// The device's kernel of an in-place op; `compute` is that of the op without the write.
template <class Op, auto compute, WriteCheck check, class Schema = typename Op::schema> class InPlaceKernel;
template <class Op, auto compute, WriteCheck check, class... Arguments>
class InPlaceKernel<Op, compute, check, at::Tensor &(at::Tensor &, Arguments...)> {
public:
  static at::Tensor &call(c10::DispatchKeySet keys, at::Tensor &self, Arguments... arguments) {
    if (at::Tensor value = writableValue(self); value.defined())
      if (write(self, value, result(value, arguments...), check))
        return self;
    return OtherKernel<Op>::call(keys, self, arguments...);
  }

private:
  static at::Tensor result(const at::Tensor &value, Arguments... arguments) {
    // As behind torch's functionalization: else what kernels make without operands is wrapped.
    c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::Functionalize);
    return compute(value, within(arguments)...);
  }
};

} // namespace torchere::lazy
