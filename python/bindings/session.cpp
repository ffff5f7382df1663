// torchere._core's part for src/session: programs that are ready to be called.
#include "session/session.h"
#include "session/static_module.h"

#include "bindings/bindings.h"
#include "bindings/constants.h"
#include "bindings/device_array.h"
#include "bindings/tensor_exchange.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <deque>

namespace torchere::bindings {

using session::Input;
using session::Session;

namespace {

/// A session with a result list for each function, in which the constants are filled in.
struct PythonSession {
  std::shared_ptr<Session> session;
  std::vector<nb::object> templates;
};

} // namespace

static std::unique_ptr<PythonSession> create(std::shared_ptr<runtime::Client> client,
                                             std::shared_ptr<artifact::Bundle> bundle,
                                             std::optional<int> device, const PythonSession *like) {
  auto self = std::make_unique<PythonSession>();
  Session *other = like ? like->session.get() : nullptr;
  self->session = unwrap(Session::create(std::move(client), std::move(bundle), device, other));
  for (size_t i = 0; i < self->session->functionCount(); ++i) {
    const program::EntryPoint &entryPoint = self->session->entryPoint(i);
    nb::list results;
    for (int64_t position = 0; position < entryPoint.userOutputCount; ++position)
      results.append(nb::none());
    for (const program::ConstantOutput &constant : entryPoint.constantOutputs)
      results[static_cast<size_t>(constant.position)] =
          explained([&] { return fmt::format("{}: output {}", entryPoint.name, constant.position); },
                    "a constant that torch refuses", [&] { return toPython(constant.value); });
    self->templates.push_back(std::move(results));
  }
  return self;
}

static size_t checkIndex(const PythonSession &self, size_t function) {
  if (function >= self.templates.size())
    throw nb::index_error("no such function");
  return function;
}

/// How errors refer to the input at a position.
static std::string inputName(const program::EntryPoint &entryPoint, size_t position) {
  for (const auto *inputs : {&entryPoint.inputs, &entryPoint.unusedInputs})
    for (const program::EntryInput &input : *inputs)
      if (input.source == program::InputSource::UserInput && static_cast<size_t>(input.position) == position)
        return input.name;
  for (const program::ConstantInput &input : entryPoint.constantInputs)
    if (static_cast<size_t>(input.position) == position)
      return input.name;
  return fmt::format("input {}", position);
}

static bool takesTensor(const program::EntryPoint &entryPoint, size_t position) {
  for (const auto *inputs : {&entryPoint.inputs, &entryPoint.unusedInputs})
    for (const program::EntryInput &input : *inputs)
      if (input.source == program::InputSource::UserInput && static_cast<size_t>(input.position) == position)
        return !input.isSymInt;
  return false;
}

/// One of numpy's scalars: a tensor where the program takes one, else a number.
static Input readScalar(TensorReader &reader, const program::EntryPoint &entryPoint, nb::handle leaf,
                        size_t position, const Subject &subject) {
  if (takesTensor(entryPoint, position))
    if (nb::object array = arrayOfScalar(leaf); !array.is_none())
      return reader.read(array, subject);
  return readConstant(leaf, subject);
}

/// The tuple holds the leaves: reading a leaf runs Python code, which may change the original list.
static std::vector<Input> readInputs(TensorReader &reader, const program::EntryPoint &entryPoint,
                                     const nb::tuple &leaves) {
  std::vector<Input> inputs;
  inputs.reserve(leaves.size());
  for (nb::handle leaf : leaves) {
    Subject subject = [&] { return inputName(entryPoint, inputs.size()); };
    if (const DeviceArray *array = asDeviceArray(leaf))
      inputs.emplace_back(array->tensor);
    else if (TensorReader::isTensor(leaf))
      inputs.emplace_back(reader.read(leaf, subject));
    else if (isNumpyScalar(leaf))
      inputs.push_back(readScalar(reader, entryPoint, leaf, inputs.size(), subject));
    else
      inputs.emplace_back(readConstant(leaf, subject));
  }
  return inputs;
}

/// An output as the user gets it.
static nb::object toPython(const session::OutputTensor &output) {
  if (const auto *tensor = std::get_if<session::DeviceTensor>(&output.value))
    return nb::cast(DeviceArray{*tensor});
  const runtime::HostArray &array = output.array();
  if (!output.isNumber)
    return toPythonTensor(array);
  if (array.type->dtype == DType::F64)
    return nb::cast(*static_cast<const double *>(array.data));
  if (array.type->dtype == DType::Bool)
    return nb::cast(*static_cast<const bool *>(array.data));
  return nb::cast(*static_cast<const int64_t *>(array.data));
}

/// The new value of an input: an array on the device is replaced by it, a tensor in host memory is
/// overwritten.
static void mutate(nb::handle leaf, const session::OutputTensor &mutation, const Subject &subject) {
  const auto *tensor = std::get_if<session::DeviceTensor>(&mutation.value);
  if (!tensor)
    return copyInto(leaf, mutation.array(), subject);
  if (DeviceArray *array = asDeviceArray(leaf)) {
    array->tensor = *tensor;
    return;
  }
  Result<runtime::HostArray> array = [&] {
    nb::gil_scoped_release release;
    auto read = runtime::Buffer::toHost(*tensor);
    return read;
  }();
  copyInto(leaf, unwrap(std::move(array)), subject);
}

/// `make` calls the session with the inputs.
template <class Make>
static nb::list callBy(PythonSession &self, size_t function, const nb::sequence &sequence, Make make) {
  nb::list results(self.templates[checkIndex(self, function)]); // a copy
  const program::EntryPoint &entryPoint = self.session->entryPoint(function);
  nb::tuple leaves(sequence);
  TensorReader reader(leaves.size());
  std::vector<Input> inputs = readInputs(reader, entryPoint, leaves);
  Result<session::CallResult> result = [&] {
    nb::gil_scoped_release release;
    Result<session::CallResult> called = make(inputs);
    return called;
  }();
  inputs.clear();
  session::CallResult values = unwrap(std::move(result));
  for (const session::OutputTensor &output : values.outputs)
    results[static_cast<size_t>(output.position)] = toPython(output);
  for (const session::OutputTensor &mutation : values.mutations) {
    size_t position = static_cast<size_t>(mutation.position);
    mutate(leaves[position], mutation, [&] { return inputName(entryPoint, position); });
  }
  return results;
}

static nb::list callWith(PythonSession &self, size_t function, const nb::sequence &sequence,
                         const session::CallOptions &options) {
  return callBy(self, function, sequence,
                [&](std::span<const Input> inputs) { return self.session->call(function, inputs, options); });
}

static nb::list call(PythonSession &self, size_t function, nb::sequence sequence) {
  return callWith(self, function, sequence, {});
}

static nb::list callOnDevice(PythonSession &self, size_t function, nb::sequence sequence, std::string place) {
  return callWith(self, function, sequence, {.onDevice = true, .place = std::move(place)});
}

static DeviceArray toDevice(PythonSession &self, nb::handle value) {
  if (const DeviceArray *array = asDeviceArray(value))
    return *array;
  TensorReader reader(1);
  session::TensorView view = reader.readTensor(value, [] { return "tensor"; });
  Result<session::DeviceTensor> tensor = [&] {
    nb::gil_scoped_release release;
    auto made = self.session->toDevice(view);
    return made;
  }();
  return {unwrap(std::move(tensor))};
}

static nb::object readWeight(PythonSession &self, const std::string &name) {
  Result<runtime::HostArray> array = [&] {
    nb::gil_scoped_release release;
    auto read = self.session->readWeight(name);
    return read;
  }();
  return toPythonTensor(unwrap(std::move(array)));
}

static nb::dict readStates(PythonSession &self) {
  Result<std::vector<session::NamedArray>> read = [&] {
    nb::gil_scoped_release release;
    auto states = self.session->readStates();
    return states;
  }();
  nb::dict states;
  for (const session::NamedArray &state : unwrap(std::move(read)))
    states[nb::str(state.name.data(), state.name.size())] = toPythonTensor(state.value);
  return states;
}

static void writeStates(PythonSession &self, const nb::dict &values) {
  NamedTensors named(values);
  Status status = [&] {
    nb::gil_scoped_release release;
    Status written = self.session->writeStates(named.views());
    return written;
  }();
  unwrap(std::move(status));
}

static std::unique_ptr<PythonSession> succeed(PythonSession &self, std::shared_ptr<artifact::Bundle> bundle,
                                              const nb::dict &states) {
  NamedTensors named(states);
  auto successor = std::make_unique<PythonSession>();
  successor->templates = self.templates;
  Result<std::shared_ptr<Session>> session = [&] {
    nb::gil_scoped_release release;
    auto made = self.session->succeed(std::move(bundle), named.views());
    return made;
  }();
  successor->session = unwrap(std::move(session));
  return successor;
}

static void resetStates(PythonSession &self) {
  Status status = [&] {
    nb::gil_scoped_release release;
    Status written = self.session->resetStates();
    return written;
  }();
  unwrap(std::move(status));
}

static nb::dict counts(const PythonSession &self, size_t function) {
  session::CallCounts counts = self.session->counts(checkIndex(self, function));
  nb::dict result;
  result["calls"] = counts.calls;
  result["refinements"] = counts.refinements;
  result["preparations"] = counts.preparations;
  return result;
}

static nb::dict memoryStatistics(PythonSession &self, size_t function, nb::sequence sequence) {
  checkIndex(self, function);
  nb::tuple leaves(sequence);
  TensorReader reader(leaves.size());
  std::vector<Input> inputs = readInputs(reader, self.session->entryPoint(function), leaves);
  Result<runtime::MemoryStatistics> told = [&] {
    nb::gil_scoped_release release;
    auto statistics = self.session->memoryStatistics(function, inputs);
    return statistics;
  }();
  inputs.clear();
  runtime::MemoryStatistics statistics = unwrap(std::move(told));
  nb::dict result;
  result["arguments"] = statistics.arguments;
  result["results"] = statistics.results;
  result["aliases"] = statistics.aliases;
  result["temporaries"] = statistics.temporaries;
  result["code"] = statistics.code;
  return result;
}

/// (results, rows as JSON, the table, the trace).
static nb::tuple profile(PythonSession &self, size_t function, nb::sequence sequence) {
  std::optional<session::CallProfile> profile;
  nb::list results = callBy(self, function, sequence, [&](std::span<const Input> inputs) {
    return self.session->profile(function, inputs).map([&](auto profiled) {
      profile = std::move(profiled.second);
      return std::move(profiled.first);
    });
  });
  return nb::make_tuple(results, printJson(profile->json(), 0), profile->table(), profile->chromeTrace());
}

/// The leaves of a call of which only types are known: (dtype, shape) for each tensor, else a constant.
static std::vector<Input> readTypes(const program::EntryPoint &entryPoint, const nb::tuple &leaves,
                                    std::deque<std::vector<int64_t>> &shapes) {
  std::vector<Input> inputs;
  for (nb::handle leaf : leaves) {
    Subject subject = [&] { return inputName(entryPoint, inputs.size()); };
    if (!nb::isinstance<nb::tuple>(leaf)) {
      inputs.emplace_back(readConstant(leaf, subject));
      continue;
    }
    auto [name, shape] = nb::cast<std::pair<std::string, std::vector<int64_t>>>(leaf);
    std::optional<DType> dtype = dtypeFromTorchName(name);
    if (!dtype)
      refuse(subject, fmt::format("unknown dtype: got {}, expected one of torch's", name));
    shapes.push_back(std::move(shape));
    inputs.emplace_back(session::TensorView{nullptr, *dtype, shapes.back(), {}, "cpu", nullptr});
  }
  return inputs;
}

static nb::tuple makeStaticModule(const artifact::Bundle &bundle, const std::string &name,
                                  const nb::sequence &leaves, const std::optional<std::string> &version) {
  const artifact::Function &function = bundle.functions[unwrap(findFunction(bundle, name))];
  std::deque<std::vector<int64_t>> shapes;
  std::vector<Input> inputs = readTypes(function.entryPoint, nb::tuple(leaves), shapes);
  vhlo::Version target = version ? unwrap(vhlo::Version::parse(*version)) : vhlo::defaultVersion;
  PluginTraits traits = traitsOf({.platform = "cpu", .isXla = true}); // what any XLA takes
  Result<session::StaticModule> made = [&] {
    nb::gil_scoped_release release;
    return session::staticModule(function, inputs, target, traits);
  }();
  session::StaticModule module = unwrap(std::move(made));
  nb::list results;
  for (const runtime::ArrayType &type : module.results)
    results.append(nb::make_tuple(std::string(dtypeInfo(type.dtype).torchName), type.shape));
  return nb::make_tuple(nb::bytes(module.bytecode.data(), module.bytecode.size()), results);
}

void bindSession(nb::module_ &module) {
  bindDeviceArray(module);
  module.def(
      "static_module", &makeStaticModule, nb::arg("bundle"), nb::arg("function"), nb::arg("leaves"),
      nb::arg("target_version") = nb::none(),
      "A function's module as a portable artifact for a call with such leaves, each (dtype, shape) or a "
      "constant, prepared for XLA; and (dtype, shape) of each of its results.");
  module.attr("GENERATOR_BUFFER") = nb::str(program::generatorBuffer.data(), program::generatorBuffer.size());
  nb::class_<PythonSession>(module, "Session",
                            "A program on a device, ready to be called from any number of threads.")
      .def(nb::new_(&create), nb::arg("client"), nb::arg("bundle"), nb::arg("device") = nb::none(),
           nb::arg("like") = nb::none(),
           "The bundle's functions on the client's device with this id (the first by default). `like` is a "
           "session of the same functions with other weights: its executables are used again.")
      .def(
          "find_function",
          [](const PythonSession &self, std::string_view name) {
            return unwrap(self.session->findFunction(name));
          },
          nb::arg("name"), "The index of a function: its place in the bundle.")
      .def("call", &call, nb::arg("function"), nb::arg("leaves"),
           "Calls the function with this index on the leaves of its arguments, and returns the leaves of its "
           "results. Tensors that the program mutates are updated in place.")
      .def("call_on_device", &callOnDevice, nb::arg("function"), nb::arg("leaves"), nb::arg("place") = "",
           "The same without waiting: results are DeviceArrays. Errors name the place.")
      .def("profile", &profile, nb::arg("function"), nb::arg("leaves"),
           "The same as call(), measured: the leaves of the results, the profile as JSON, its table, and its "
           "trace.")
      .def("to_device", &toDevice, nb::arg("value"), "A copy of the tensor on the session's device.")
      .def(
          "state_names", [](const PythonSession &self) { return self.session->stateNames(); },
          "The weights and buffers that functions write.")
      .def("read_weight", &readWeight, nb::arg("name"),
           "The current value of a weight or buffer; later calls do not change it.")
      .def("read_states", &readStates, "The present values of all states, as they are between two calls.")
      .def("write_states", &writeStates, nb::arg("values"),
           "Sets states to copies of the tensors: all of them, between two calls, or none.")
      .def("reset_states", &resetStates, "Gives all states the values that they have in the bundle.")
      .def("succeed", &succeed, nb::arg("bundle"), nb::arg("states"),
           "A session of the same functions with the bundle's weights: these states are copied, the others "
           "move there, and this session is given up.")
      .def(
          "draws_random_numbers",
          [](const PythonSession &self) { return self.session->drawsRandomNumbers(); },
          "Whether the program draws random numbers: from a generator whose state is GENERATOR_BUFFER.")
      .def(
          "manual_seed",
          [](PythonSession &self, uint64_t seed) {
            Status status = [&] {
              nb::gil_scoped_release release;
              Status seeded = self.session->manualSeed(seed);
              return seeded;
            }();
            unwrap(std::move(status));
          },
          nb::arg("seed"), "Starts the stream of random numbers that the seed gives.")
      .def("counts", &counts, nb::arg("function"),
           "How often the function was called, its module refined, and an executable prepared.")
      .def("memory_statistics", &memoryStatistics, nb::arg("function"), nb::arg("leaves"),
           "Bytes that a call with these leaves needs: arguments, results, aliases, temporaries, code.");
}

} // namespace torchere::bindings
