// torchere._core's part for src/session: programs that are ready to be called.
#include "session/session.h"

#include "bindings/bindings.h"
#include "bindings/tensor_exchange.h"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace torchere::bindings {

using program::Argument;
using session::Input;
using session::Session;

static nb::object torchAttribute(const std::string &name) {
  return nb::module_::import_("torch").attr(name.c_str());
}

static nb::object toPython(const Argument &argument) {
  struct Converter {
    bool isTuple;
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(bool value) const { return nb::cast(value); }
    nb::object operator()(int64_t value) const { return nb::cast(value); }
    nb::object operator()(double value) const { return nb::cast(value); }
    nb::object operator()(const std::complex<double> &value) const { return nb::cast(value); }
    nb::object operator()(const std::string &value) const { return nb::cast(value); }
    nb::object operator()(DType value) const { return toPythonDType(value); }
    nb::object operator()(const program::Device &value) const { return torchAttribute("device")(value.name); }
    nb::object operator()(const program::Layout &value) const { return torchAttribute(value.name); }
    nb::object operator()(const program::MemoryFormat &value) const { return torchAttribute(value.name); }
    nb::object operator()(const Argument::List &list) const {
      nb::list values;
      for (const Argument &element : list)
        values.append(toPython(element));
      return isTuple ? nb::object(nb::tuple(values)) : nb::object(values);
    }
    nb::object operator()(const program::NodeReference &) const { return refuse("a node"); }
    nb::object operator()(const program::GraphReference &) const { return refuse("a graph"); }
    nb::object operator()(const program::OpReference &value) const { return refuse(value.name); }
    static nb::object refuse(const std::string &what) {
      throw ErrorException{Error{ErrorCode::Internal, fmt::format("[output] no constant: got {}", what), {}}};
    }
  };
  return std::visit(Converter{argument.isTuple}, argument.value);
}

static Argument readConstant(nb::handle value) {
  PyObject *object = value.ptr();
  if (value.is_none())
    return {};
  if (PyBool_Check(object))
    return Argument{object == Py_True};
  if (PyLong_Check(object))
    return Argument{nb::cast<int64_t>(value)};
  if (PyFloat_Check(object))
    return Argument{PyFloat_AS_DOUBLE(object)};
  if (PyComplex_Check(object))
    return Argument{std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object))};
  if (PyUnicode_Check(object))
    return Argument{nb::cast<std::string>(value)};
  if (PyList_Check(object) || PyTuple_Check(object)) {
    Argument::List list;
    for (nb::handle element : value)
      list.push_back(readConstant(element));
    return Argument{std::move(list), static_cast<bool>(PyTuple_Check(object))};
  }
  if (auto constant = readTorchConstant(value))
    return *std::move(constant);
  std::string type = nb::cast<std::string>(nb::str(value.type().attr("__name__")));
  throw nb::type_error(fmt::format("[{}] an input that programs cannot take: expected a tensor, an array, a "
                                   "number, a string or None",
                                   type)
                           .c_str());
}

namespace {

/// A session and, for each function, the list that its results are put into: constants are there already.
struct PythonSession {
  std::shared_ptr<Session> session;
  std::vector<nb::object> templates;
};

} // namespace

static std::unique_ptr<PythonSession> create(std::shared_ptr<runtime::Client> client,
                                             std::shared_ptr<artifact::Bundle> bundle,
                                             std::optional<int> device) {
  auto self = std::make_unique<PythonSession>();
  self->session = unwrap(Session::create(std::move(client), std::move(bundle), device));
  for (size_t i = 0; i < self->session->functionCount(); ++i) {
    const program::EntryPoint &entryPoint = self->session->entryPoint(i);
    nb::list results;
    for (int64_t position = 0; position < entryPoint.userOutputCount; ++position)
      results.append(nb::none());
    for (const program::ConstantOutput &constant : entryPoint.constantOutputs)
      results[static_cast<size_t>(constant.position)] = toPython(constant.value);
    self->templates.push_back(std::move(results));
  }
  return self;
}

static size_t checkIndex(const PythonSession &self, size_t function) {
  if (function >= self.templates.size())
    throw nb::index_error("no such function");
  return function;
}

static std::vector<Input> readInputs(TensorReader &reader, const nb::sequence &leaves, size_t count) {
  std::vector<Input> inputs;
  inputs.reserve(count);
  for (nb::handle leaf : leaves) {
    if (TensorReader::isTensor(leaf))
      inputs.emplace_back(reader.read(leaf));
    else
      inputs.emplace_back(readConstant(leaf));
  }
  return inputs;
}

static nb::list call(PythonSession &self, size_t function, nb::sequence leaves) {
  nb::list results(self.templates[checkIndex(self, function)]); // a copy
  size_t count = nb::len(leaves);
  TensorReader reader(count);
  std::vector<Input> inputs = readInputs(reader, leaves, count);
  Result<session::CallResult> result = [&] {
    nb::gil_scoped_release release;
    auto called = self.session->call(function, inputs);
    return called;
  }();
  inputs.clear();
  session::CallResult values = unwrap(std::move(result));
  for (const session::OutputTensor &output : values.outputs)
    results[static_cast<size_t>(output.position)] =
        output.isInteger ? nb::cast(*static_cast<const int64_t *>(output.array.data))
                         : toPythonTensor(output.array);
  for (const session::OutputTensor &mutation : values.mutations)
    copyInto(leaves[static_cast<size_t>(mutation.position)], mutation.array);
  return results;
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
  if (!TensorReader::isTensor(value))
    throw nb::type_error(fmt::format("[{}] wrong kind of value: expected a tensor", name).c_str());
  TensorReader reader(1);
  session::TensorView view = reader.read(value);
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

static nb::dict memoryStatistics(PythonSession &self, size_t function, nb::sequence leaves) {
  checkIndex(self, function);
  size_t count = nb::len(leaves);
  TensorReader reader(count);
  std::vector<Input> inputs = readInputs(reader, leaves, count);
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
  nb::class_<PythonSession>(module, "Session",
                            "A program on a device, ready to be called, from several threads if need be.")
      .def(nb::new_(&create), nb::arg("client"), nb::arg("bundle"), nb::arg("device") = nb::none(),
           "The bundle's functions on the client's device of this id (the first when none is given).")
      .def(
          "find_function",
          [](const PythonSession &self, std::string_view name) {
            return unwrap(self.session->findFunction(name));
          },
          nb::arg("name"), "The index of a function: its place in the bundle.")
      .def("call", &call, nb::arg("function"), nb::arg("leaves"),
           "Calls the function of this index with the leaves of its arguments; the leaves of its results. "
           "Tensors "
           "that the program mutates are written.")
      .def(
          "state_names", [](const PythonSession &self) { return self.session->stateNames(); },
          "The weights and buffers that some function writes.")
      .def("read_weight", &readWeight, nb::arg("name"),
           "The current value of a weight or buffer; later calls do not change it.")
      .def("write_state", &writeState, nb::arg("name"), nb::arg("value"),
           "Sets a state to a copy of the tensor.")
      .def("counts", &counts, nb::arg("function"),
           "How many calls the function had, and how often its module was refined and made an executable.")
      .def("memory_statistics", &memoryStatistics, nb::arg("function"), nb::arg("leaves"),
           "Bytes that a call with these leaves takes: arguments, results, aliases, temporaries, code.");
}

} // namespace torchere::bindings
