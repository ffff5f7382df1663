// Every op that the table does not have: computed on the CPU, and counted as "aten::<op>".
#include "lazy/in_front.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/native/CPUFallback.h>
#include <c10/util/ScopeExit.h>
#include <torch/csrc/lazy/core/metrics.h>
#include <torch/library.h>

#include <algorithm>
#include <mutex>

namespace torchere::lazy {

/// Counters are made once for each op and live until the process ends.
static void count(const std::string &name) {
  static std::mutex mutex;
  static auto *counters = new std::map<std::string, std::unique_ptr<torch::lazy::Counter>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<torch::lazy::Counter> &counter = (*counters)[name];
  if (!counter)
    counter = std::make_unique<torch::lazy::Counter>(name);
  counter->AddValue(1);
}

/// While an op runs through functionalization, although the caller is within it.
class FunctionalizeAgain {
public:
  FunctionalizeAgain()
      : guard(c10::impl::tls_local_dispatch_key_set().included_,
              c10::impl::tls_local_dispatch_key_set().excluded_.remove(c10::DispatchKey::Functionalize)) {}

private:
  c10::impl::ForceDispatchKeyGuard guard;
};

/// An op that writes to tensors which functionalization does not see, because one of torch's own kernels made
/// them: it is functionalized by itself, and they then show the new values.
static void writeToValues(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  const c10::FunctionSchema &schema = op.schema();
  size_t first = stack->size() - schema.arguments().size();
  std::vector<std::pair<at::Tensor, at::Tensor>> written; // what the caller holds, and its wrapper
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    c10::IValue &argument = (*stack)[first + i];
    if (!argument.isTensor() || !argument.toTensor().defined() || !implementationOf(argument.toTensor()))
      continue;
    at::Tensor given = argument.toTensor();
    at::Tensor wrapper = at::functionalization::impl::to_functional_tensor(given);
    if (const auto *alias = schema.arguments()[i].alias_info(); alias && alias->isWrite())
      written.emplace_back(std::move(given), wrapper);
    argument = wrapper;
  }
  {
    FunctionalizeAgain again;
    op.callBoxed(stack);
  }
  for (const auto &[given, wrapper] : written)
    implementationOf(given)->show(implementationOf(unwrapped(wrapper))->value());
  for (size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i)
    for (const auto &[given, wrapper] : written)
      if ((*stack)[i].isTensor() && (*stack)[i].toTensor().is_same(wrapper))
        (*stack)[i] = given;
}

/// The value of a view, without the view.
static at::Tensor viewCopyOf(const at::Tensor &view) {
  at::Tensor copy = unwrapped(view);
  implementationOf(copy)->markViewCopy();
  return copy;
}

/// A view of a tensor that functionalization does not see, for a kernel of torch's that makes an op of others
/// where autograd does not (in inference_mode()): a copy, to which nothing can be written.
static void copyViews(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  c10::IValue &viewed = (*stack)[stack->size() - op.schema().arguments().size()];
  viewed = at::functionalization::impl::to_functional_tensor(viewed.toTensor());
  {
    FunctionalizeAgain again;
    op.callBoxed(stack);
  }
  c10::IValue &result = stack->back();
  if (result.isTensor()) {
    result = viewCopyOf(result.toTensor());
    return;
  }
  std::vector<at::Tensor> copies;
  for (const at::Tensor &view : result.toTensorVector())
    copies.push_back(viewCopyOf(view));
  result = copies;
}

/// Whether the op gives views of its first argument, which is a tensor of ours that nobody holds.
static bool viewsValue(const c10::OperatorHandle &op, const torch::jit::Stack &stack) {
  const c10::FunctionSchema &schema = op.schema();
  if (schema.is_mutable() || schema.arguments().empty() || schema.returns().size() != 1)
    return false;
  const c10::IValue &viewed = stack[stack.size() - schema.arguments().size()];
  return schema.arguments()[0].alias_info() && viewed.isTensor() && viewed.toTensor().defined() &&
         implementationOf(viewed.toTensor());
}

/// Ops that writeToValues() is running. torch may define the functional form of an op by the op itself.
static thread_local c10::SmallVector<c10::OperatorName, 4> beingFunctionalized;

/// As errors name it: "aten.add.Tensor".
static std::string title(const c10::OperatorName &op) {
  std::string name = op.name;
  if (size_t colons = name.find("::"); colons != std::string::npos)
    name.replace(colons, 2, ".");
  return name + "." + (op.overload_name.empty() ? "default" : op.overload_name);
}

/// Ops that take tensors of the host beside one of the device: indices and lengths.
static bool takesHostTensors(const std::string &name, const at::Tensor &first) {
  constexpr std::string_view prefixes[] = {"aten::index", "aten::_index_put", "aten::_ctc_loss",
                                           "aten::_copy_from", "aten::copy"};
  return first.defined() && first.device().is_xla() &&
         std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// The CPU could compute with tensors of any devices, which torch allows nowhere else.
static void checkDevices(const c10::OperatorHandle &op, const torch::jit::Stack &stack) {
  const std::vector<c10::Argument> &arguments = op.schema().arguments();
  size_t first = stack.size() - arguments.size();
  bool takesHost = !arguments.empty() && stack[first].isTensor() &&
                   takesHostTensors(op.operator_name().name, stack[first].toTensor());
  std::optional<at::Device> device;
  auto check = [&](const at::Tensor &tensor, bool isWritten) {
    if (!tensor.defined() || (!tensor.device().is_xla() && takesHost))
      return;
    if (tensor.device().is_cpu() && tensor.dim() == 0 && !isWritten)
      return; // a number
    TORCH_CHECK(tensor.device().is_xla(), "[", title(op.operator_name()), "] tensors on two devices: got ",
                tensor.device(), ", expected xla");
    TORCH_CHECK(device.value_or(tensor.device()) == tensor.device(), "[", title(op.operator_name()),
                "] tensors on two devices: got ", tensor.device(), ", expected ", *device);
    device = tensor.device();
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::IValue &given = stack[first + i];
    const c10::AliasInfo *alias = arguments[i].alias_info();
    if (given.isTensor())
      check(given.toTensor(), alias && alias->isWrite());
    else if (given.isTensorList())
      for (const at::Tensor &tensor : given.toTensorVector())
        check(tensor, alias && alias->isWrite());
  }
}

/// With errors for views: one that the CPU computes would be a copy, and writes to it would be lost.
void computeOnHost(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  const c10::OperatorName &name = op.schema().operator_name();
  if (op.schema().is_mutable() && c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Functionalize) &&
      std::find(beingFunctionalized.begin(), beingFunctionalized.end(), name) == beingFunctionalized.end()) {
    beingFunctionalized.push_back(name);
    auto done = c10::make_scope_exit([] { beingFunctionalized.pop_back(); });
    return writeToValues(op, stack);
  }
  if (c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Functionalize) && viewsValue(op, *stack))
    return copyViews(op, stack);
  checkDevices(op, *stack);
  TORCH_CHECK_NOT_IMPLEMENTED(op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU), "[", title(name),
                              "] no kernel for xla, and none for the CPU, which would compute it");
  count(name.overload_name.empty() ? name.name : name.name + "." + name.overload_name);
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

TORCH_LIBRARY_IMPL(_, XLA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&computeOnHost>());
}

} // namespace torchere::lazy
