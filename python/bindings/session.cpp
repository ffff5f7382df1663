// torchere._core's part for src/session: programs that are ready to be called.
#include "session/session.h"

#include "bindings/bindings.h"
#include "bindings/device_array.h"
#include "bindings/tensor_exchange.h"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace torchere::bindings {

using program::Constant;
using session::Input;
using session::Session;

/// An attribute of torch, or its name if torch is not installed.
static nb::object torchConstant(const std::string &name) {
  nb::object torch = torchOrNone();
  return torch.is_none() ? nb::cast(name) : nb::object(torch.attr(name.c_str()));
}

static nb::object torchDevice(const std::string &name) {
  nb::object torch = torchOrNone();
  return torch.is_none() ? nb::cast(name) : nb::object(torch.attr("device")(name));
}

static nb::object toPython(const Constant &argument) {
  struct Converter {
    bool isTuple;
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(bool value) const { return nb::cast(value); }
    nb::object operator()(int64_t value) const { return nb::cast(value); }
    nb::object operator()(double value) const { return nb::cast(value); }
    nb::object operator()(const std::complex<double> &value) const { return nb::cast(value); }
    nb::object operator()(const std::string &value) const { return nb::cast(value); }
    nb::object operator()(DType value) const { return toPythonDType(value); }
    nb::object operator()(const program::Device &value) const { return torchDevice(value.name); }
    nb::object operator()(const program::Layout &value) const { return torchConstant(value.name); }
    nb::object operator()(const program::MemoryFormat &value) const { return torchConstant(value.name); }
    nb::object operator()(const Constant::List &list) const {
      nb::list values;
      for (const Constant &element : list)
        values.append(toPython(element));
      return isTuple ? nb::object(nb::tuple(values)) : nb::object(values);
    }
    nb::object operator()(const program::OpReference &value) const { return refuse(value.name); }
    static nb::object refuse(const std::string &what) {
      throw ErrorException{Error{ErrorCode::Internal, fmt::format("[output] no constant: got {}", what), {}}};
    }
  };
  return std::visit(Converter{argument.isTuple}, argument.value);
}

static Constant readConstant(nb::handle value, const Subject &subject, size_t depth = 0);

/// Lists may contain themselves.
static constexpr size_t depthLimit = 100;

static Constant readList(nb::handle value, const Subject &subject, size_t depth) {
  if (depth == depthLimit)
    refuse(subject, fmt::format("nests too deeply: expected at most {} levels", depthLimit));
  Constant::List list;
  for (nb::handle element : value)
    list.push_back(readConstant(element, subject, depth + 1));
  return Constant{std::move(list), static_cast<bool>(PyTuple_Check(value.ptr()))};
}

static Constant readInteger(nb::handle value, const Subject &subject) {
  int overflow = 0;
  int64_t integer = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0)
    refuse(subject, "an integer of more than 64 bits, which no program takes");
  return Constant{integer};
}

static Constant readText(nb::handle value, const Subject &subject) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text)
    return Constant{std::string(text, static_cast<size_t>(size))};
  PyErr_Clear();
  refuse(subject, "a string that is not UTF-8, which no program takes");
}

static Constant readConstant(nb::handle value, const Subject &subject, size_t depth) {
  PyObject *object = value.ptr();
  if (value.is_none())
    return {};
  if (PyBool_Check(object))
    return Constant{object == Py_True};
  if (PyLong_Check(object))
    return readInteger(value, subject);
  if (PyFloat_Check(object))
    return Constant{PyFloat_AS_DOUBLE(object)};
  if (PyComplex_Check(object))
    return Constant{std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object))};
  if (PyUnicode_Check(object))
    return readText(value, subject);
  if (PyList_Check(object) || PyTuple_Check(object))
    return readList(value, subject, depth);
  if (auto constant = readTorchConstant(value, subject))
    return *std::move(constant);
  refuse(subject, fmt::format("an input that programs cannot take: got {}, expected a tensor, an array, a "
                              "number, a string or None",
                              Py_TYPE(object)->tp_name));
}

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

static nb::list callWith(PythonSession &self, size_t function, const nb::sequence &sequence,
                         const session::CallOptions &options) {
  nb::list results(self.templates[checkIndex(self, function)]); // a copy
  const program::EntryPoint &entryPoint = self.session->entryPoint(function);
  nb::tuple leaves(sequence);
  TensorReader reader(leaves.size());
  std::vector<Input> inputs = readInputs(reader, entryPoint, leaves);
  Result<session::CallResult> result = [&] {
    nb::gil_scoped_release release;
    auto called = self.session->call(function, inputs, options);
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

static nb::list call(PythonSession &self, size_t function, nb::sequence sequence) {
  return callWith(self, function, sequence, {});
}

static nb::list callOnDevice(PythonSession &self, size_t function, nb::sequence sequence, std::string place) {
  return callWith(self, function, sequence, {.onDevice = true, .place = std::move(place)});
}

static DeviceArray toDevice(PythonSession &self, nb::handle value) {
  Subject subject = [] { return "tensor"; };
  if (const DeviceArray *array = asDeviceArray(value))
    return *array;
  if (!TensorReader::isTensor(value))
    refuse(subject,
           fmt::format("wrong kind of value: got {}, expected a tensor", Py_TYPE(value.ptr())->tp_name));
  TensorReader reader(1);
  session::TensorView view = reader.read(value, subject);
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

static void writeState(PythonSession &self, const std::string &name, nb::handle value) {
  Subject subject = [&] { return name; };
  if (!TensorReader::isTensor(value))
    refuse(subject,
           fmt::format("wrong kind of value: got {}, expected a tensor", Py_TYPE(value.ptr())->tp_name));
  TensorReader reader(1);
  session::TensorView view = reader.read(value, subject);
  Status status = [&] {
    nb::gil_scoped_release release;
    Status written = self.session->writeState(name, view);
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

void bindSession(nb::module_ &module) {
  bindDeviceArray(module);
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
      .def("to_device", &toDevice, nb::arg("value"), "A copy of the tensor on the session's device.")
      .def(
          "state_names", [](const PythonSession &self) { return self.session->stateNames(); },
          "The weights and buffers that functions write.")
      .def("read_weight", &readWeight, nb::arg("name"),
           "The current value of a weight or buffer; later calls do not change it.")
      .def("write_state", &writeState, nb::arg("name"), nb::arg("value"),
           "Sets a state to a copy of the tensor.")
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
