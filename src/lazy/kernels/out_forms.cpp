// out= forms of ops: the op itself, then the writes. torch's functionalization does the same, but writes
// whatever it gets; here what eager refuses is refused: results that the dtype cannot hold, and memory that
// overlaps.
#include "lazy/out_forms.h"

#include "lazy/in_place.h"

#include <ATen/EmptyTensor.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <unordered_map>

namespace torchere::lazy {

namespace {

using torch::jit::Stack;

struct Form {
  c10::OperatorHandle op;
  bool isPointwise;
};

const Form &formOf(const c10::OperatorName &name) {
  static const auto *forms = [] {
    auto *made = new std::unordered_map<c10::OperatorName, Form>;
    for (const OutForm &form : outForms())
      made->emplace(
          c10::OperatorName(form.formName, form.formOverload),
          Form{c10::Dispatcher::singleton().findSchemaOrThrow(form.name, form.overload), form.isPointwise});
    return made;
  }();
  return forms->at(name);
}

/// The arguments of a call: what is written is the last ones.
struct OutCall {
  OutCall(const c10::OperatorHandle &op, const Stack &stack)
      : outs(op.schema().returns().size()), inputs(op.schema().arguments().size() - outs),
        arguments(stack.end() - static_cast<ptrdiff_t>(inputs + outs), stack.end()) {}

  const at::Tensor &out(size_t i) const { return arguments[inputs + i].toTensor(); }

  size_t outs, inputs;
  Stack arguments;
};

template <class Change> c10::IValue changed(const c10::IValue &argument, Change change) {
  if (argument.isTensor())
    return change(argument.toTensor());
  if (argument.isTensorList()) {
    std::vector<at::Tensor> tensors;
    for (const at::Tensor &tensor : argument.toTensorVector())
      tensors.push_back(change(tensor));
    return tensors;
  }
  if (!argument.isOptionalTensorList())
    return argument;
  c10::List<std::optional<at::Tensor>> tensors;
  for (const std::optional<at::Tensor> &tensor : argument.toOptionalTensorVector())
    tensors.push_back(tensor ? std::optional(change(*tensor)) : std::nullopt);
  return tensors;
}

/// Whether two views show some elements in common, and not the same ones.
bool overlapPartly(const at::Tensor &out, const at::Tensor &input) {
  if (out.is_same(input) || out.numel() == 0 || input.numel() == 0 || !shownValue(input) ||
      !out.is_non_overlapping_and_dense() || !input.is_non_overlapping_and_dense() ||
      !out.unsafeGetTensorImpl()->unsafe_storage().is_alias_of(input.unsafeGetTensorImpl()->unsafe_storage()))
    return false;
  int64_t first = out.storage_offset(), other = input.storage_offset();
  if (first == other && out.numel() == input.numel())
    return out.strides() != input.strides();
  return first < other + input.numel() && other < first + out.numel();
}

void checkMemory(const OutCall &call, bool isPointwise) {
  for (size_t i = 0; i < call.outs; ++i) {
    at::assert_no_internal_overlap(*shownValue(call.out(i)));
    for (size_t input = 0; isPointwise && input < call.inputs; ++input)
      TORCH_CHECK(
          !call.arguments[input].isTensor() || !call.arguments[input].toTensor().defined() ||
              !overlapPartly(call.out(i), call.arguments[input].toTensor()),
          "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
          "a single memory location. Please clone() the tensor before performing the operation.");
  }
}

/// The same call on tensors of no values, as `make` gives them of sizes and a dtype.
template <class Make>
void callOn(const c10::OperatorHandle &op, const OutCall &call, const std::vector<at::Tensor> &results,
            Make make) {
  Stack stack;
  for (size_t i = 0; i < call.inputs; ++i)
    stack.push_back(changed(call.arguments[i], [&](const at::Tensor &tensor) {
      return tensor.defined() ? make(tensor.sizes(), tensor.scalar_type()) : tensor;
    }));
  for (size_t i = 0; i < call.outs; ++i)
    stack.push_back(
        make(results[i].defined() ? results[i].sizes() : call.out(i).sizes(), call.out(i).scalar_type()));
  op.callBoxed(&stack);
}

bool haveEqualDtypes(const OutCall &call, const std::vector<at::Tensor> &results) {
  for (size_t i = 0; i < call.outs; ++i)
    if (results[i].defined() && results[i].scalar_type() != call.out(i).scalar_type())
      return false;
  return true;
}

/// Results of other dtypes than what they are written to: torch's Meta kernel knows what eager refuses. One
/// in Python has other words than eager, whose kernel is asked. Without either a result is not narrowed.
void checkDtypes(const c10::OperatorHandle &op, const OutCall &call, const std::vector<at::Tensor> &results) {
  if (haveEqualDtypes(call, results))
    return;
  ShapeGuard guard;
  try {
    return callOn(op, call, results, [](c10::IntArrayRef sizes, at::ScalarType dtype) -> at::Tensor {
      return at::detail::empty_meta(sizes, dtype);
    });
  } catch (const c10::NotImplementedError &) {
    for (size_t i = 0; i < call.outs; ++i)
      TORCH_CHECK(!results[i].defined() || c10::canCast(results[i].scalar_type(), call.out(i).scalar_type()),
                  "result type ", results[i].scalar_type(), " can't be cast to the desired output type ",
                  call.out(i).scalar_type());
  } catch (const c10::Error &) {
    throw;
  } catch (const std::exception &) {
    callOn(op, call, results, [](c10::IntArrayRef sizes, at::ScalarType dtype) {
      return at::zeros(sizes, at::TensorOptions().dtype(dtype));
    });
  }
}

std::vector<at::Tensor> resultsOf(const c10::OperatorHandle &op, const OutCall &call) {
  Stack stack;
  for (size_t i = 0; i < call.inputs; ++i)
    stack.push_back(changed(call.arguments[i], [](const at::Tensor &tensor) { return within(tensor); }));
  ShapeGuard guard; // below functionalization, as for in-place forms
  op.callBoxed(&stack);
  std::vector<at::Tensor> results;
  for (const c10::IValue &result : stack)
    results.push_back(result.toTensor());
  return results;
}

/// The device's kernel of an out= form.
void writeOut(const c10::OperatorHandle &op, c10::DispatchKeySet keys, Stack *stack) {
  OutCall call(op, *stack);
  bool isOurs = true, isWrapped = false;
  for (size_t i = 0; i < call.outs; ++i) {
    isOurs &= call.out(i).defined() && shownValue(call.out(i)) && writableValue(call.out(i)).defined();
    isWrapped |= call.out(i).defined() && call.out(i).key_set().has(c10::DispatchKey::Functionalize);
  }
  if (!isOurs)
    return isWrapped ? op.redispatchBoxed(keys.add(c10::DispatchKey::Functionalize), stack)
                     : computeOnHost(op, stack);
  const Form &form = formOf(op.operator_name());
  checkMemory(call, form.isPointwise);
  std::vector<at::Tensor> results = resultsOf(form.op, call);
  checkDtypes(op, call, results);
  torch::jit::drop(*stack, call.inputs + call.outs);
  for (size_t i = 0; i < call.outs; ++i) {
    if (results[i].defined()) {
      at::functionalization::impl::replace_(call.out(i), results[i]); // resizes, and casts
      at::functionalization::impl::commit_update(call.out(i));
      at::functionalization::impl::sync(call.out(i));
    }
    stack->emplace_back(call.out(i));
  }
}

/// The kernel of AutogradXLA: as AutogradKernel.
void differentiateOut(const c10::OperatorHandle &op, c10::DispatchKeySet keys, Stack *stack) {
  OutCall call(op, *stack);
  bool isPast = true;
  for (size_t i = 0; i < call.outs; ++i)
    isPast &= call.out(i).defined() && goesPastFunctionalization(keys, call.out(i));
  op.redispatchBoxed(keysOfAutograd(keys, isPast), stack);
}

template <auto kernel> void registerForms(torch::Library &library) {
  for (const OutForm &form : outForms())
    library.impl((std::string(form.formName) + "." + form.formOverload).c_str(),
                 torch::CppFunction::makeFromBoxedFunction<kernel>());
}

} // namespace

TORCH_LIBRARY_IMPL(aten, XLA, library) {
  registerForms<&writeOut>(library);
}

TORCH_LIBRARY_IMPL(aten, AutogradXLA, library) {
  registerForms<&differentiateOut>(library);
}

} // namespace torchere::lazy
