// The objects behind handles: sessions, arrays, results.
#include "capi/objects.h"

#include <cstring>

namespace torchere::capi {

Result<std::shared_ptr<Program>> Program::create(std::shared_ptr<runtime::Client> client,
                                                 std::shared_ptr<const LoadedBundle> loaded,
                                                 std::optional<int> device, const Program *like) {
  auto program = std::make_shared<Program>();
  TORCHERE_ASSIGN(program->session, session::Session::create(client, loaded->bundle, device,
                                                             like ? like->session.get() : nullptr));
  for (const std::string &name : program->session->stateNames())
    if (name != program::generatorBuffer)
      program->states.emplace_back(name, loaded->bundle->stateDict.at(name));
  program->client = std::move(client);
  program->loaded = std::move(loaded);
  program->deviceId = device;
  return program;
}

Result<const FunctionDescription *> Program::function(size_t index) const {
  if (index >= loaded->functions.size())
    return fail(ErrorCode::OutOfRange, "[function] no such index: got {}, expected less than {}", index,
                loaded->functions.size());
  return &loaded->functions[index];
}

Result<const runtime::HostArray *> Array::host() {
  TORCHERE_TRY(tensor->wait()); // without the lock: a reader that waits must not keep others from asking
  std::lock_guard lock(mutex);
  if (!array) {
    TORCHERE_ASSIGN(array, runtime::Buffer::toHost(tensor));
  }
  return &*array;
}

Result<std::shared_ptr<CallOutcome>> CallOutcome::create(std::shared_ptr<const LoadedBundle> loaded,
                                                         const FunctionDescription &function,
                                                         session::CallResult result) {
  auto outcome = std::make_shared<CallOutcome>();
  outcome->loaded = std::move(loaded);
  outcome->function = &function;
  outcome->values.resize(function.resultCount());
  auto set = [&](size_t index, session::OutputTensor &output) {
    if (auto *tensor = std::get_if<session::DeviceTensor>(&output.value))
      outcome->values[index] = std::make_shared<Array>(std::move(*tensor));
    else
      outcome->values[index] = std::move(std::get<runtime::HostArray>(output.value));
  };
  for (session::OutputTensor &output : result.outputs)
    set(static_cast<size_t>(output.position), output);
  // In the order of the function's results, as the description has them.
  for (size_t i = 0; i < result.mutations.size(); ++i)
    set(function.outputs().size() + i, result.mutations[i]);
  return outcome;
}

Result<const runtime::HostArray *> CallOutcome::host(size_t index) const {
  if (const auto *array = std::get_if<runtime::HostArray>(&values[index]))
    return array;
  if (const auto *array = std::get_if<std::shared_ptr<Array>>(&values[index]))
    return (*array)->host();
  return fail(ErrorCode::FailedPrecondition, "[{}] a constant: it has no memory",
              function->resultAt(index).name());
}

const runtime::Buffer *CallOutcome::pending() const {
  for (const ResultValue &value : values)
    if (const auto *array = std::get_if<std::shared_ptr<Array>>(&value))
      return (*array)->onDevice().get();
  return nullptr;
}

void fillType(const runtime::ArrayType &type, torchere_value_info &info) {
  info.dtype = numberOf(type.dtype);
  info.rank = type.shape.size();
  info.dims = info.dim_minimums = info.dim_maximums = type.shape.data();
}

std::vector<session::NamedView> viewsOf(const std::vector<session::NamedArray> &arrays) {
  std::vector<session::NamedView> views;
  for (const auto &[name, array] : arrays)
    views.push_back({name, {array.data, array.type->dtype, array.type->shape, {}, "cpu", array.owner}});
  return views;
}

Status copyElements(const runtime::HostArray &array, const char *name, void *data, size_t byteSize) {
  TORCHERE_ASSIGN(size_t needed, array.type->byteSize());
  if (byteSize < needed)
    return fail(ErrorCode::OutOfRange, "[{}] memory too short: got {} bytes, expected at least {}", name,
                byteSize, needed);
  if (needed == 0)
    return {};
  if (!data)
    return invalidArgument("[{}] null pointer: expected memory of {} bytes", name, needed);
  std::memcpy(data, array.data, needed);
  return {};
}

} // namespace torchere::capi
