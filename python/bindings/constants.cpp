// Constants of a call as Python objects, and back.
#include "bindings/constants.h"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

namespace torchere::bindings {

using program::Constant;

/// An attribute of torch, or its name if torch is not installed.
static nb::object torchConstant(const std::string &name) {
  nb::object torch = torchOrNone();
  return torch.is_none() ? nb::cast(name) : nb::object(torch.attr(name.c_str()));
}

static nb::object torchDevice(const std::string &name) {
  nb::object torch = torchOrNone();
  return torch.is_none() ? nb::cast(name) : nb::object(torch.attr("device")(name));
}

nb::object toPython(const Constant &argument) {
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

static Constant readNested(nb::handle value, const Subject &subject, size_t depth);

/// Lists may contain themselves.
static constexpr size_t depthLimit = 100;

static Constant readList(nb::handle value, const Subject &subject, size_t depth) {
  if (depth == depthLimit)
    refuse(subject, fmt::format("nests too deeply: expected at most {} levels", depthLimit));
  Constant::List list;
  for (nb::handle element : value)
    list.push_back(readNested(element, subject, depth + 1));
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

std::optional<std::string> enumText(nb::handle value) {
  if (PyLong_Check(value.ptr()) || PyUnicode_Check(value.ptr()) ||
      !nb::isinstance(value, nb::module_::import_("enum").attr("Enum")))
    return std::nullopt;
  nb::str type(value.type().attr("__qualname__")), name(value.attr("name"));
  return fmt::format("{}.{}", type.c_str(), name.c_str());
}

static Constant readNested(nb::handle value, const Subject &subject, size_t depth) {
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
  if (isNumpyScalar(value))
    if (nb::object number = numberOfScalar(value); !number.is_none())
      return readNested(number, subject, depth);
  if (std::optional<std::string> text = enumText(value))
    return Constant{*std::move(text)};
  refuse(subject, fmt::format("an input that programs cannot take: got {}, expected a tensor, an array, a "
                              "number, a string or None",
                              Py_TYPE(object)->tp_name));
}

Constant readConstant(nb::handle value, const Subject &subject) {
  return readNested(value, subject, 0);
}

} // namespace torchere::bindings
