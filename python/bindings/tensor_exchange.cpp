// Tensors in and out of Python: torch's by their attributes, others by DLPack.
#include "bindings/tensor_exchange.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace torchere::bindings {

namespace dlpack = nb::dlpack;

namespace {

/// Attribute names. The statics here are leaked on purpose: the interpreter ends before static destructors
/// run.
struct Names {
  PyObject *dataPointer = PyUnicode_InternFromString("data_ptr");
  PyObject *dtype = PyUnicode_InternFromString("dtype");
  PyObject *shape = PyUnicode_InternFromString("shape");
  PyObject *stride = PyUnicode_InternFromString("stride");
  PyObject *device = PyUnicode_InternFromString("device");
  PyObject *isCpu = PyUnicode_InternFromString("is_cpu");
  PyObject *isNegated = PyUnicode_InternFromString("is_neg");
  PyObject *resolveConjugate = PyUnicode_InternFromString("resolve_conj");
  PyObject *resolveNegation = PyUnicode_InternFromString("resolve_neg");
};

struct Torch {
  nb::object module;
  PyTypeObject *tensor, *parameter, *dtype, *device, *layout, *memoryFormat;
};

struct DLType {
  DType dtype;
  dlpack::dtype type;
};

} // namespace

static const Names &names() {
  static const Names &instance = *new Names;
  return instance;
}

static PyTypeObject *typeOf(nb::handle module, const char *name) {
  return reinterpret_cast<PyTypeObject *>(nb::object(module.attr(name)).release().ptr());
}

/// torch, or null if it is not loaded. Imports it only on request.
static const Torch *torch(bool import) {
  static const Torch *instance = nullptr;
  static bool isMissing = false;
  if (instance || isMissing)
    return instance;
  PyObject *loaded = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  nb::object module;
  if (loaded) {
    module = nb::borrow(loaded);
  } else if (import) {
    try {
      module = nb::module_::import_("torch");
    } catch (nb::python_error &error) {
      isMissing = error.matches(PyExc_ModuleNotFoundError);
      if (!isMissing)
        throw;
      return nullptr;
    }
  } else {
    return nullptr;
  }
  instance = new Torch{module,
                       typeOf(module, "Tensor"),
                       typeOf(module.attr("nn"), "Parameter"),
                       typeOf(module, "dtype"),
                       typeOf(module, "device"),
                       typeOf(module, "layout"),
                       typeOf(module, "memory_format")};
  return instance;
}

void refuse(const Subject &subject, std::string_view what) {
  throw ErrorException{Error{ErrorCode::InvalidArgument, fmt::format("[{}] {}", subject(), what), {}}};
}

/// str(), with invalid UTF-8 (lone surrogates) written as escapes.
static std::string escapedText(nb::handle object) {
  nb::object bytes = nb::str(object).attr("encode")("utf-8", "backslashreplace");
  return std::string(nb::bytes(bytes).c_str());
}

std::string firstLine(const nb::python_error &error) {
  std::string text =
      fmt::format("{}: {}", escapedText(error.type().attr("__name__")), escapedText(error.value()));
  return text.substr(0, text.find('\n'));
}

/// The text that a function of torchere.arrays returns for the object.
static nb::object askArrays(const char *function, nb::handle object) {
  return nb::module_::import_("torchere.arrays").attr(function)(object);
}

static nb::object attribute(nb::handle object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object.ptr(), name);
  if (!value)
    nb::raise_python_error();
  return nb::steal(value);
}

static nb::object callMethod(nb::handle object, PyObject *name) {
  PyObject *result = PyObject_CallMethodNoArgs(object.ptr(), name);
  if (!result)
    nb::raise_python_error();
  return nb::steal(result);
}

static std::string lastWord(nb::handle object) {
  std::string text = nb::cast<std::string>(nb::str(object));
  return text.substr(text.rfind('.') + 1);
}

static DType readDType(nb::handle object, const Subject &subject) {
  static auto &known = *new std::unordered_map<PyObject *, DType>; // torch's dtypes live forever
  auto found = known.find(object.ptr());
  if (found != known.end())
    return found->second;
  auto dtype = dtypeFromTorchName(lastWord(object));
  if (!dtype)
    refuse(subject, fmt::format("unsupported dtype: got torch.{}, which no program takes", lastWord(object)));
  known.emplace(object.inc_ref().ptr(), *dtype);
  return *dtype;
}

static void readIntegers(nb::handle sequence, std::vector<int64_t> &values) {
  Py_ssize_t count = PyTuple_Size(sequence.ptr());
  if (count < 0)
    nb::raise_python_error();
  values.resize(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = PyLong_AsLongLong(PyTuple_GET_ITEM(sequence.ptr(), i));
    if (values[static_cast<size_t>(i)] == -1 && PyErr_Occurred())
      nb::raise_python_error();
  }
}

TensorReader::TensorReader(size_t count) {
  extents.reserve(count);
  owners.reserve(count);
}

bool TensorReader::isTensor(nb::handle object) {
  if (const Torch *loaded = torch(false); loaded && PyObject_TypeCheck(object.ptr(), loaded->tensor))
    return true;
  return PyObject_HasAttrString(object.ptr(), "__dlpack__");
}

session::TensorView TensorReader::readTensor(nb::handle object, const Subject &subject) {
  if (!isTensor(object))
    refuse(subject,
           fmt::format("wrong kind of value: got {}, expected a tensor", Py_TYPE(object.ptr())->tp_name));
  return read(object, subject);
}

NamedTensors::NamedTensors(const nb::dict &given)
    : values(nb::steal<nb::dict>(PyDict_Copy(given.ptr()))), reader(values.size()) {
  names.reserve(values.size()); // the views refer to the names
  for (auto [key, value] : values) {
    const std::string &name = names.emplace_back(nb::cast<std::string>(key));
    named.push_back({name, reader.readTensor(value, [&] { return name; })});
  }
}

session::TensorView TensorReader::read(nb::handle object, const Subject &subject) {
  if (extents.size() == extents.capacity()) // existing views refer to it
    throw ErrorException{Error{ErrorCode::Internal, "[reader] more tensors than there is room for", {}}};
  extents.emplace_back();
  const Torch *loaded = torch(false);
  session::TensorView view = loaded && PyObject_TypeCheck(object.ptr(), loaded->tensor)
                                 ? readTorch(object, subject)
                                 : readArray(object, subject);
  view.shape = extents.back().shape;
  view.strides = extents.back().strides;
  owners.push_back(view.owner);
  return view;
}

[[noreturn]] static void refuseTensor(nb::handle tensor, const Subject &subject) {
  refuse(subject, "unsupported tensor: got " + escapedText(askArrays("describe_tensor", tensor)));
}

/// An object of a subclass as a plain tensor on the same memory, because attributes of subclasses may say
/// anything.
static nb::object plainTensor(nb::handle tensor, const Subject &subject) {
  nb::object plain = askArrays("plain_tensor", tensor);
  if (plain.is_none())
    refuseTensor(tensor, subject);
  return plain;
}

session::TensorView TensorReader::readTorch(nb::handle tensor, const Subject &subject) {
  const Names &n = names();
  const Torch &loaded = *torch(false);
  nb::object plain = nb::borrow(tensor);
  if (Py_TYPE(tensor.ptr()) != loaded.tensor && Py_TYPE(tensor.ptr()) != loaded.parameter)
    plain = plainTensor(tensor, subject);
  session::TensorView view;
  view.dtype = readDType(attribute(plain, n.dtype), subject);
  if (attribute(plain, n.isCpu).ptr() != Py_True) {
    // Rejected because of its device; its memory is not touched.
    extents.back().device = nb::cast<std::string>(nb::str(attribute(plain, n.device)));
    view.device = extents.back().device;
    readIntegers(attribute(plain, n.shape), extents.back().shape);
    return view;
  }
  try {
    readStrided(plain, view);
  } catch (nb::python_error &) { // it lacks sizes, strides or memory
    refuseTensor(tensor, subject);
  }
  const std::vector<int64_t> &shape = extents.back().shape;
  if (!view.data && std::find(shape.begin(), shape.end(), 0) == shape.end())
    refuseTensor(tensor, subject);
  return view;
}

void TensorReader::readStrided(nb::handle tensor, session::TensorView &view) {
  const Names &n = names();
  nb::object resolved = nb::borrow(tensor);
  if (dtypeInfo(view.dtype).isComplex)
    resolved = callMethod(resolved, n.resolveConjugate);
  if (callMethod(resolved, n.isNegated).ptr() == Py_True)
    resolved = callMethod(resolved, n.resolveNegation);
  readIntegers(attribute(resolved, n.shape), extents.back().shape);
  readIntegers(callMethod(resolved, n.stride), extents.back().strides);
  view.data = PyLong_AsVoidPtr(callMethod(resolved, n.dataPointer).ptr());
  if (!view.data && PyErr_Occurred())
    nb::raise_python_error();
  view.owner = keepAlive(std::move(resolved));
}

using Code = dlpack::dtype_code;

static constexpr dlpack::dtype dlType(Code code, uint8_t bits) {
  return {static_cast<uint8_t>(code), bits, 1};
}

static constexpr std::array<DLType, 20> dlTypes = {{
    {DType::Bool, dlType(Code::Bool, 8)},
    {DType::I8, dlType(Code::Int, 8)},
    {DType::I16, dlType(Code::Int, 16)},
    {DType::I32, dlType(Code::Int, 32)},
    {DType::I64, dlType(Code::Int, 64)},
    {DType::U8, dlType(Code::UInt, 8)},
    {DType::U16, dlType(Code::UInt, 16)},
    {DType::U32, dlType(Code::UInt, 32)},
    {DType::U64, dlType(Code::UInt, 64)},
    {DType::F16, dlType(Code::Float, 16)},
    {DType::BF16, dlType(Code::Bfloat, 16)},
    {DType::F32, dlType(Code::Float, 32)},
    {DType::F64, dlType(Code::Float, 64)},
    {DType::C64, dlType(Code::Complex, 64)},
    {DType::C128, dlType(Code::Complex, 128)},
    {DType::F8E4M3FN, dlType(Code::Float8_E4M3FN, 8)},
    {DType::F8E4M3FNUZ, dlType(Code::Float8_E4M3FNUZ, 8)},
    {DType::F8E5M2, dlType(Code::Float8_E5M2, 8)},
    {DType::F8E5M2FNUZ, dlType(Code::Float8_E5M2FNUZ, 8)},
    {DType::F8E8M0FNU, dlType(Code::Float8_E8M0FNU, 8)},
}};

/// The DLPack type's row; for raw bits of a type that another package added to numpy, the row of its name.
static std::optional<DType> findDType(const nb::ndarray<nb::ro> &array, const std::string &name) {
  if (!name.empty()) {
    auto named = dtypeFromTorchName(name);
    return named && byteSize(*named) == array.itemsize() ? named : std::nullopt;
  }
  for (const DLType &row : dlTypes)
    if (row.type == array.dtype())
      return row.dtype;
  return std::nullopt;
}

/// Only numpy's own arrays: a subclass may have a mask, which would be lost.
static bool isPlainArray(nb::handle object) {
  static PyTypeObject *array = nullptr;
  if (!array)
    if (PyObject *numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy"))
      array = typeOf(numpy, "ndarray");
  return Py_TYPE(object.ptr()) == array;
}

bool isNumpyScalar(nb::handle object) {
  static PyTypeObject *generic = nullptr;
  if (!generic)
    if (PyObject *numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy"))
      generic = typeOf(numpy, "generic");
  return generic && PyObject_TypeCheck(object.ptr(), generic);
}

nb::object arrayOfScalar(nb::handle scalar) {
  return askArrays("scalar_array", scalar);
}

nb::object numberOfScalar(nb::handle scalar) {
  return askArrays("scalar_number", scalar);
}

session::TensorView TensorReader::readArray(nb::handle object, const Subject &subject) {
  nb::ndarray<nb::ro> array;
  std::string name; // torch's name for the element type whose bits the array holds
  auto cannotBeRead = [&] {
    refuse(subject, "unsupported array: got " + escapedText(askArrays("describe_array", object)));
  };
  if (!isPlainArray(object) && nb::cast<bool>(askArrays("has_mask", object)))
    cannotBeRead();
  if (!nb::try_cast(object, array)) {
    nb::object bits = askArrays("bits_of", object);
    if (bits.is_none() || !nb::try_cast(bits, array))
      cannotBeRead();
    name = escapedText(object.attr("dtype").attr("name"));
  }
  session::TensorView view;
  std::optional<DType> dtype = findDType(array, name);
  if (!dtype)
    cannotBeRead();
  view.dtype = *dtype;
  if (array.device_type() != nb::device::cpu::value) {
    extents.back().device = fmt::format("device {} of DLPack", array.device_type());
    if (PyObject_HasAttrString(object.ptr(), "device"))
      extents.back().device = escapedText(object.attr("device"));
    view.device = extents.back().device;
  }
  for (size_t i = 0; i < array.ndim(); ++i) {
    extents.back().shape.push_back(static_cast<int64_t>(array.shape(i)));
    extents.back().strides.push_back(array.stride(i));
  }
  view.data = array.data();
  view.owner = keepAlive(nb::cast(array));
  return view;
}

static dlpack::dtype dlTypeOf(DType dtype) {
  for (const DLType &row : dlTypes)
    if (row.dtype == dtype)
      return row.type;
  throw nb::type_error(fmt::format("[{}] no such type in DLPack", dtypeInfo(dtype).torchName).c_str());
}

/// One-byte types that not every version of torch accepts by DLPack: they are passed as bytes.
static bool goesAsBytes(DType dtype) {
  return byteSize(dtype) == 1 && dtype != DType::I8 && dtype != DType::U8;
}

/// The array as one of nanobind's frameworks, with elements of `type`.
template <class Framework> static nb::object wrap(const runtime::HostArray &array, dlpack::dtype type) {
  auto *kept = new std::shared_ptr<const void>(array.owner);
  nb::capsule owner(
      kept, [](void *pointer) noexcept { delete static_cast<std::shared_ptr<const void> *>(pointer); });
  const std::vector<int64_t> &shape = array.type->shape;
  return nb::cast(nb::ndarray<Framework>(const_cast<void *>(array.data), shape.size(),
                                         reinterpret_cast<const size_t *>(shape.data()), owner, nullptr,
                                         type));
}

nb::object toNumpyArray(const runtime::HostArray &array) {
  DType dtype = array.type->dtype;
  if (dtype == DType::BF16 || (goesAsBytes(dtype) && dtype != DType::Bool))
    throw nb::type_error(fmt::format("[{}] no such type in numpy", dtypeInfo(dtype).torchName).c_str());
  return wrap<nb::numpy>(array, dlTypeOf(dtype));
}

nb::object toPythonTensor(const runtime::HostArray &array) {
  DType dtype = array.type->dtype;
  if (!torch(true))
    return wrap<nb::numpy>(array, dlTypeOf(dtype));
  if (!goesAsBytes(dtype))
    return wrap<nb::pytorch>(array, dlTypeOf(dtype));
  return wrap<nb::pytorch>(array, dlTypeOf(DType::U8)).attr("view")(toPythonDType(dtype));
}

void copyInto(nb::handle target, const runtime::HostArray &array, const Subject &subject) {
  nb::object value = toPythonTensor(array);
  explained(subject, "the program writes this input, which cannot be written", [&] {
    if (const Torch *loaded = torch(false); loaded && PyObject_TypeCheck(target.ptr(), loaded->tensor))
      target.attr("copy_")(value);
    else
      target.attr("__setitem__")(nb::ellipsis(), value);
  });
}

nb::object torchOrNone() {
  const Torch *loaded = torch(true);
  return loaded ? loaded->module : nb::none();
}

nb::object toPythonDType(DType dtype) {
  std::string name(dtypeInfo(dtype).torchName);
  const Torch *loaded = torch(true);
  return loaded ? nb::object(loaded->module.attr(name.c_str())) : nb::cast(name);
}

std::optional<program::Constant> readTorchConstant(nb::handle object, const Subject &subject) {
  const Torch *loaded = torch(false);
  if (!loaded)
    return std::nullopt;
  PyTypeObject *type = Py_TYPE(object.ptr());
  if (type == loaded->dtype)
    return program::Constant{readDType(object, subject)};
  if (type == loaded->device)
    return program::Constant{program::Device{nb::cast<std::string>(nb::str(object))}};
  if (type == loaded->layout)
    return program::Constant{program::Layout{lastWord(object)}};
  if (type == loaded->memoryFormat)
    return program::Constant{program::MemoryFormat{lastWord(object)}};
  return std::nullopt;
}

} // namespace torchere::bindings
