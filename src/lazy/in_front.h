// Kernels in front of torch's functionalization, for tensors of the device alone: autograd's kernels pass
// calls on to the device's, which see functionalization's wrappers. What they cannot do goes the usual way.
#pragma once

#include "lazy/tensor.h"

#include <ATen/core/boxing/impl/boxing.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <type_traits>

namespace torchere::lazy {

/// Whether a call that came to AutogradXLA may come to the device's kernel without torch's functionalization:
/// `self` is a tensor of ours, and nobody else wants to see the call.
bool goesPastFunctionalization(c10::DispatchKeySet keys, const at::Tensor &self);
/// The keys for autograd's kernel of such a call, and of any other.
c10::DispatchKeySet keysOfAutograd(c10::DispatchKeySet keys, bool isPastFunctionalization);

/// The value that a user's tensor of ours shows, without the writes to its other views; null for all others.
const at::Tensor *shownValue(const at::Tensor &tensor);

/// The boxed kernel of ops that the table does not have.
void computeOnHost(const c10::OperatorHandle &op, torch::jit::Stack *stack);

/// The kernel of AutogradXLA.
template <class Op, class Schema = typename Op::schema> class AutogradKernel;
template <class Op, class Return, class Self, class... Arguments>
class AutogradKernel<Op, Return(Self, Arguments...)> {
public:
  static Return call(c10::DispatchKeySet keys, Self self, Arguments... arguments) {
    bool isPast = goesPastFunctionalization(keys, self);
    return Op::redispatch(keysOfAutograd(keys, isPast), self, arguments...);
  }
};

/// A call that the device's kernel does not take: torch's functionalization does, or the CPU computes it.
template <class Op, class Schema = typename Op::schema> class OtherKernel;
template <class Op, class Return, class Self, class... Arguments>
class OtherKernel<Op, Return(Self, Arguments...)> {
public:
  static Return call(c10::DispatchKeySet keys, Self self, Arguments... arguments) {
    if (self.key_set().has(c10::DispatchKey::Functionalize))
      return Op::redispatch(keys.add(c10::DispatchKey::Functionalize), self, arguments...);
    static const c10::OperatorHandle op =
        c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload_name);
    return c10::impl::BoxedKernelWrapper<Return(Self, Arguments...)>::call(
        c10::BoxedKernel::makeFromFunction<&computeOnHost>(), op, keys, self, arguments...);
  }
};

} // namespace torchere::lazy
