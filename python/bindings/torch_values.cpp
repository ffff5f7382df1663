// Reads torch's Python values through CPython's interface.
#include "bindings/torch_values.h"

#include <nanobind/stl/string.h>

namespace torchere::bindings {

using program::Argument;
using program::Constant;
using program::SymInt;
using program::Type;

static PyTypeObject *classOf(nb::dict classes, const char *name, std::vector<nb::object> &kept) {
  nb::object type = classes[name];
  kept.push_back(type);
  return reinterpret_cast<PyTypeObject *>(type.ptr());
}

TorchVocabulary::TorchVocabulary(nb::dict classes, nb::dict dtypes, nb::dict layouts, nb::dict memoryFormats,
                                 nb::object numberText)
    : printNumber(std::move(numberText)) {
  node = classOf(classes, "node", kept);
  tensor = classOf(classes, "tensor", kept);
  symInt = classOf(classes, "sym_int", kept);
  symFloat = classOf(classes, "sym_float", kept);
  symBool = classOf(classes, "sym_bool", kept);
  device = classOf(classes, "device", kept);
  opOverload = classOf(classes, "op_overload", kept);
  higherOrderOp = classOf(classes, "higher_order_op", kept);
  for (auto [object, name] : dtypes)
    if (std::optional<DType> dtype = dtypeFromTorchName(nb::cast<std::string>(name)))
      constants[object.ptr()] = Constant{*dtype};
  for (auto [object, name] : layouts)
    constants[object.ptr()] = Constant{program::Layout{nb::cast<std::string>(name)}};
  for (auto [object, name] : memoryFormats)
    constants[object.ptr()] = Constant{program::MemoryFormat{nb::cast<std::string>(name)}};
  for (nb::dict dict : {dtypes, layouts, memoryFormats})
    kept.push_back(dict);
}

const Constant *TorchVocabulary::constant(PyObject *object) const {
  auto found = constants.find(object);
  return found == constants.end() ? nullptr : &found->second;
}

static std::string stringOf(nb::handle object) {
  return nb::cast<std::string>(nb::str(object));
}

std::string TorchVocabulary::numberText(nb::handle number) const {
  return stringOf(printNumber(number));
}

static std::string reprOf(nb::handle object) {
  return nb::cast<std::string>(nb::repr(object));
}

static Result<int64_t> readInt64(nb::handle value, const std::string &node) {
  int overflow = 0;
  long long integer = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0)
    return fail(ErrorCode::OutOfRange, "[{}] an integer of more than 64 bits: got {}, expected at most {}",
                node, reprOf(value), std::numeric_limits<int64_t>::max());
  return integer;
}

Result<Argument> TorchValueReader::readArgument(nb::handle value, const NodeMap &nodes,
                                                const std::string &node, const std::string &name) {
  PyObject *object = value.ptr();
  if (value.is_none())
    return Argument{};
  if (vocabulary.isNode(object)) {
    auto found = nodes.find(object);
    if (found == nodes.end())
      return fail(ErrorCode::Internal, "[{}] argument '{}' is a node of another graph: got {}", node, name,
                  reprOf(value));
    return found->second;
  }
  if (PyBool_Check(object))
    return Argument{object == Py_True};
  if (PyLong_Check(object)) {
    TORCHERE_ASSIGN(int64_t integer, readInt64(value, node));
    return Argument{integer};
  }
  if (PyFloat_Check(object))
    return Argument{PyFloat_AS_DOUBLE(object)};
  if (PyList_Check(object) || PyTuple_Check(object)) {
    std::vector<Argument> list;
    for (nb::handle item : value) {
      TORCHERE_ASSIGN(Argument element, readArgument(item, nodes, node, name));
      list.push_back(std::move(element));
    }
    return builder.list(list, PyTuple_Check(object));
  }
  if (const Constant *constant = vocabulary.constant(object))
    return builder.constant(*constant);
  if (PyUnicode_Check(object))
    return builder.constant({nb::cast<std::string>(value)});
  if (PyComplex_Check(object))
    return builder.constant(
        {std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object))});
  if (vocabulary.isDevice(object))
    return builder.constant({program::Device{stringOf(value)}});
  if (vocabulary.isOpOverload(object))
    return builder.constant({program::OpReference{stringOf(value)}});
  if (vocabulary.isHigherOrderOp(object))
    return builder.constant({program::OpReference{"higher_order." + stringOf(value)}});
  return fail(ErrorCode::Unimplemented, "[{}] argument '{}' cannot be captured: got {} of type {}", node,
              name, reprOf(value), stringOf(value.type().attr("__name__")));
}

Result<SymInt> TorchValueReader::readSymInt(nb::handle value, const std::string &node) {
  if (PyLong_Check(value.ptr()))
    return readInt64(value, node).map([](int64_t integer) { return SymInt(integer); });
  nb::object symNode = nb::getattr(value, "node", nb::none());
  // That of the tracing; `expr` computes of it what torch has since found out.
  nb::object traced = nb::getattr(symNode, "_expr", nb::none());
  if (std::optional<SymInt> known = knownSize(traced))
    return *known;
  nb::object expression = nb::getattr(symNode, "expr", nb::none());
  std::optional<SymInt> known = knownSize(expression);
  if (!known) {
    TORCHERE_ASSIGN(known, parseSize(value, node));
    remember(expression, *known);
  }
  remember(traced, *known);
  return *known;
}

Result<SymInt> TorchValueReader::parseSize(nb::handle value, const std::string &node) {
  Result<SymInt> symInt = builder.program().expressions.parse(vocabulary.numberText(value));
  if (!symInt)
    return fail(symInt.error().code, "[{}] a size is not understood: {}", node, symInt.error().message);
  return symInt;
}

std::optional<SymInt> TorchValueReader::knownSize(nb::handle expression) const {
  if (PyObject *place = PyDict_GetItemWithError(places.ptr(), expression.ptr()))
    return sizes[PyLong_AsSize_t(place)];
  if (PyErr_Occurred())
    nb::raise_python_error();
  return std::nullopt;
}

void TorchValueReader::remember(nb::handle expression, SymInt size) {
  if (expression.is_none())
    return;
  places[expression] = sizes.size();
  sizes.push_back(size);
}

std::optional<SymInt> TorchValueReader::readNumber(nb::handle value) {
  Result<SymInt> number = builder.program().expressions.parse(vocabulary.numberText(value));
  return number ? std::optional(*number) : std::nullopt;
}

Result<std::vector<SymInt>> TorchValueReader::readSymInts(nb::handle sequence, const std::string &node) {
  std::vector<SymInt> values;
  for (nb::handle item : sequence) {
    TORCHERE_ASSIGN(SymInt value, readSymInt(item, node));
    values.push_back(value);
  }
  return values;
}

Result<DType> TorchValueReader::readDType(nb::handle value, const std::string &node) const {
  const Constant *constant = vocabulary.constant(value.ptr());
  if (!constant || !constant->as<DType>())
    return fail(ErrorCode::Unimplemented, "[{}] unknown element type: got {}", node, stringOf(value));
  return *constant->as<DType>();
}

Result<Type> TorchValueReader::readTensorType(nb::handle tensor, const std::string &node) {
  TORCHERE_ASSIGN(DType dtype, readDType(tensor.attr("dtype"), node));
  TORCHERE_ASSIGN(std::vector<SymInt> shape, readSymInts(tensor.attr("shape"), node));
  std::vector<SymInt> strides;
  try {
    TORCHERE_ASSIGN(strides, readSymInts(tensor.attr("stride")(), node));
  } catch (const nb::python_error &) {
    strides.clear(); // sparse layouts have none
  }
  nb::object device = tensor.attr("device");
  auto [entry, isNew] = devices.try_emplace(device.ptr());
  if (isNew) {
    entry->second = stringOf(device);
    keptDevices.push_back(device);
  }
  return builder.tensorType(dtype, shape, strides, entry->second);
}

Result<Type> TorchValueReader::readType(nb::handle value, const std::string &node) {
  PyObject *object = value.ptr();
  if (vocabulary.isTensor(object))
    return readTensorType(value, node);
  if (vocabulary.isSymInt(object)) {
    TORCHERE_ASSIGN(SymInt symInt, readSymInt(value, node));
    return builder.type(program::SymIntType{symInt});
  }
  if (vocabulary.isSymFloat(object))
    return builder.type(program::SymFloatType{stringOf(value), readNumber(value)});
  if (vocabulary.isSymBool(object))
    return builder.type(program::SymBoolType{stringOf(value), readNumber(value)});
  if (PyList_Check(object) || PyTuple_Check(object)) {
    std::vector<Type> types;
    for (nb::handle item : value) {
      TORCHERE_ASSIGN(Type type, readType(item, node));
      types.push_back(std::move(type));
    }
    return builder.type(Type::List(types));
  }
  return Type{};
}

} // namespace torchere::bindings
