// Reads the inputs of a call.
#include "capi/inputs.h"

#include "capi/structures.h"

#include <limits>
#include <optional>

namespace torchere::capi {

using program::Constant;
using session::Input;

/// How many bytes the elements reach from the first one on. None if that does not fit 63 bits.
static std::optional<size_t> extentOf(const session::TensorView &view) {
  __int128 last = 0, elements = 1;
  constexpr __int128 limit = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < view.shape.size(); ++i)
    if (view.shape[i] == 0)
      return 0;
  for (size_t i = view.shape.size(); i-- > 0;) {
    last += (view.shape[i] - __int128{1}) *
            (view.strides.empty() ? elements : static_cast<__int128>(view.strides[i]));
    elements *= view.shape[i];
    if (last > limit || elements > limit)
      return std::nullopt;
  }
  __int128 bytes = (last + 1) * static_cast<__int128>(byteSize(view.dtype));
  return bytes > limit ? std::nullopt : std::optional(static_cast<size_t>(bytes));
}

Result<session::TensorView> viewOf(const torchere_tensor &tensor, std::string_view name) {
  if (tensor.struct_size != sizeof(torchere_tensor))
    return invalidArgument("[{}] wrong struct_size of its torchere_tensor: got {}, expected {}", name,
                           tensor.struct_size, sizeof(torchere_tensor));
  std::optional<DType> dtype = dtypeOf(tensor.dtype);
  if (!dtype)
    return invalidArgument("[{}] no such dtype: got {}", name, tensor.dtype);
  if (tensor.rank > rankLimit)
    return invalidArgument("[{}] too many dimensions: got {}, expected at most {}", name, tensor.rank,
                           rankLimit);
  if (tensor.rank && !tensor.dims)
    return invalidArgument("[{}] null pointer: expected {} dimensions", name, tensor.rank);
  session::TensorView view{tensor.data, *dtype, {tensor.dims, tensor.rank}, {}, "cpu", nullptr};
  if (tensor.strides)
    view.strides = {tensor.strides, tensor.rank};
  for (size_t i = 0; i < tensor.rank; ++i)
    if (view.shape[i] < 0 || (tensor.strides && view.strides[i] < 0))
      return invalidArgument("[{}] negative {} of dimension {}: got {}", name,
                             view.shape[i] < 0 ? "size" : "stride", i,
                             view.shape[i] < 0 ? view.shape[i] : view.strides[i]);
  std::optional<size_t> needed = extentOf(view);
  if (!needed)
    return invalidArgument("[{}] too large: its size in bytes does not fit 63 bits", name);
  if (tensor.byte_size < *needed)
    return invalidArgument("[{}] memory too short: got {} bytes, expected at least {}", name,
                           tensor.byte_size, *needed);
  if (*needed && !tensor.data)
    return invalidArgument("[{}] null pointer: expected memory of {} bytes", name, *needed);
  return view;
}

Result<std::vector<session::NamedView>> namedViews(const torchere_tensor *tensors, size_t count,
                                                   const char *parameter) {
  TORCHERE_ASSIGN(auto list, checkList(tensors, count, parameter));
  std::vector<session::NamedView> views;
  for (const torchere_tensor &tensor : list) {
    TORCHERE_ASSIGN(std::string_view name, checkText(tensor.name, "name"));
    TORCHERE_ASSIGN(session::TensorView view, viewOf(tensor, name));
    views.push_back({name, std::move(view)});
  }
  return views;
}

/// The plugin may be reading the memory still if the call failed on its way.
CallInputs::~CallInputs() {
  list.clear();
  if (!memory)
    return;
  memory.reset();
  released->wait();
}

Result<Input> CallInputs::valueOf(const torchere_input &input, const ValueDescription &expected) {
  switch (input.kind) {
  case TORCHERE_KIND_TENSOR: {
    TORCHERE_ASSIGN(session::TensorView view, viewOf(input.tensor, expected.name()));
    if (!memory) {
      released = std::make_shared<std::latch>(1);
      memory = std::shared_ptr<const void>(this, [latch = released](const void *) { latch->count_down(); });
    }
    view.owner = memory;
    return Input(std::move(view));
  }
  case TORCHERE_KIND_ARRAY: {
    TORCHERE_ASSIGN(std::shared_ptr<Array> array, find<Array>(input.array));
    return Input(array->onDevice());
  }
  case TORCHERE_KIND_INT:
    return Input(Constant{input.integer});
  case TORCHERE_KIND_FLOAT:
    return Input(Constant{input.number});
  case TORCHERE_KIND_BOOL:
    return Input(Constant{input.integer != 0});
  case TORCHERE_KIND_STRING: {
    TORCHERE_ASSIGN(std::string_view text, checkText(input.string, expected.name().c_str()));
    return Input(Constant{std::string(text)});
  }
  case TORCHERE_KIND_NONE:
    return Input(Constant{});
  default:
    return invalidArgument("[{}] no such kind of input: got {}", expected.name(), input.kind);
  }
}

Status CallInputs::place(const FunctionDescription &function, const torchere_input &input, size_t index,
                         std::vector<bool> &given) {
  if (input.name) {
    TORCHERE_ASSIGN(index, function.findInput(input.name));
  } else if (index >= list.size()) {
    return invalidArgument("[{}] too many inputs: got {}, expected {}", function.entryPoint().name, index + 1,
                           list.size());
  }
  const ValueDescription &expected = function.inputs()[index];
  if (given[index])
    return invalidArgument("[{}] the input is given twice", expected.name());
  if (input.kind == TORCHERE_KIND_DEFAULT)
    return {};
  given[index] = true;
  TORCHERE_ASSIGN(list[index], valueOf(input, expected));
  return {};
}

Status CallInputs::read(const FunctionDescription &function, const torchere_input *inputs, size_t count) {
  TORCHERE_ASSIGN(auto structures, checkList(inputs, count, "inputs"));
  list.assign(function.inputs().size(), Input(Constant{}));
  std::vector<bool> given(list.size());
  for (size_t i = 0; i < structures.size(); ++i)
    TORCHERE_TRY(place(function, structures[i], i, given));
  for (const program::ConstantInput &constant : function.entryPoint().constantInputs)
    if (!given[static_cast<size_t>(constant.position)])
      list[static_cast<size_t>(constant.position)] = constant.value;
  for (size_t i = 0; i < list.size(); ++i)
    if (!given[i] && !function.inputs()[i].isConstant())
      return invalidArgument("[{}] the input is missing: expected {}", function.inputs()[i].name(),
                             function.inputs()[i].kind() == TORCHERE_KIND_INT ? "an int" : "a tensor");
  return {};
}

} // namespace torchere::capi
