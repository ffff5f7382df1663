// DeviceArray: the interface that Python sees, and conversions to numpy, torch and DLPack.
#include "bindings/device_array.h"

#include "bindings/tensor_exchange.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/ranges.h>

namespace torchere::bindings {

using runtime::Buffer;

static PyTypeObject *deviceArrayType = nullptr;

DeviceArray *asDeviceArray(nb::handle object) {
  return Py_TYPE(object.ptr()) == deviceArrayType ? nb::inst_ptr<DeviceArray>(object) : nullptr;
}

static void wait(const DeviceArray &self) {
  Status status = [&] {
    nb::gil_scoped_release released;
    Status waited = self.tensor->wait();
    return waited;
  }();
  unwrap(std::move(status));
}

static runtime::HostArray toHost(const DeviceArray &self) {
  Result<runtime::HostArray> array = [&] {
    nb::gil_scoped_release released;
    auto read = Buffer::toHost(self.tensor);
    return read;
  }();
  return unwrap(std::move(array));
}

static bool isShared(const DeviceArray &self, const runtime::HostArray &array) {
  return array.owner.get() == self.tensor.get();
}

/// Read-only: the array may be the argument of further calls.
static nb::object toNumpy(const DeviceArray &self) {
  runtime::HostArray host = toHost(self);
  nb::object array = toNumpyArray(host);
  array.attr("setflags")(nb::arg("write") = false);
  return array;
}

/// torch has no read-only tensors, so memory of the device's is copied.
static nb::object toTorch(const DeviceArray &self) {
  if (torchOrNone().is_none())
    throw nb::import_error("torch is not installed: numpy() gives a numpy array");
  runtime::HostArray host = toHost(self);
  nb::object tensor = toPythonTensor(host);
  return isShared(self, host) ? tensor.attr("clone")() : tensor;
}

static nb::object toArray(const DeviceArray &self, nb::object dtype, nb::object copy) {
  nb::object array = toNumpy(self);
  if (dtype.is_none() && copy.ptr() != Py_True)
    return array;
  return array.attr("astype")(dtype.is_none() ? array.attr("dtype") : dtype);
}

/// The lazy device is another extension, which shares libtorchere.so with this one and no Python types.
static uintptr_t give(const DeviceArray &self) {
  return reinterpret_cast<uintptr_t>(new session::DeviceTensor(self.tensor));
}

static DeviceArray take(uintptr_t given) {
  std::unique_ptr<session::DeviceTensor> tensor(reinterpret_cast<session::DeviceTensor *>(given));
  return {std::move(*tensor)};
}

/// The only element, as Python's number or bool.
static nb::object onlyElement(const DeviceArray &self) {
  const std::vector<int64_t> &shape = self.tensor->type().shape;
  for (int64_t size : shape)
    if (size != 1)
      refuse(
          [] { return "DeviceArray"; },
          fmt::format("no single value: got the shape ({}), expected one element", fmt::join(shape, ", ")));
  return toPythonTensor(toHost(self)).attr("item")();
}

/// What one of Python's functions gives of the only element.
static nb::object converted(const DeviceArray &self, PyObject *(*convert)(PyObject *)) {
  PyObject *result = convert(onlyElement(self).ptr());
  if (!result)
    nb::raise_python_error();
  return nb::steal(result);
}

static std::string describe(const DeviceArray &self) {
  const runtime::ArrayType &type = self.tensor->type();
  return fmt::format("DeviceArray({}, ({}), {}:{})", dtypeInfo(type.dtype).torchName,
                     fmt::join(type.shape, ", "), self.tensor->client().platformName(),
                     self.tensor->device().id);
}

void bindDeviceArray(nb::module_ &module) {
  nb::class_<DeviceArray> type(module, "DeviceArray",
                               "An array on a device, which may still be in the making: a result of "
                               "StableHLOProgram.call_on_device, and an argument for calls of any program on "
                               "the same device. If its computation fails, every read raises the error. "
                               "Calls never write into it.");
  type.def_prop_ro(
          "dtype", [](const DeviceArray &self) { return toPythonDType(self.tensor->type().dtype); },
          "torch.float32 and the like; the name if torch is not installed.")
      .def_prop_ro("shape",
                   [](const DeviceArray &self) { return nb::tuple(nb::cast(self.tensor->type().shape)); })
      .def_prop_ro("device", [](const DeviceArray &self) { return self.tensor->device(); })
      .def(
          "is_ready", [](const DeviceArray &self) { return self.tensor->isComputed(); },
          "Whether the computation has ended, successfully or not.")
      .def(
          "block_until_ready",
          [](nb::handle_t<DeviceArray> self) {
            wait(*nb::inst_ptr<DeviceArray>(self));
            return nb::borrow(self);
          },
          nb::sig("def block_until_ready(self) -> DeviceArray"),
          "Waits until it is computed, and returns it.")
      .def("numpy", &toNumpy,
           "The elements as a read-only numpy array: a view of the device's memory if the host can read it, "
           "otherwise a copy. TypeError for dtypes that numpy lacks.")
      .def("torch", &toTorch, "The elements as a torch.Tensor with memory of its own.")
      .def("__array__", &toArray, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def(
          "__dlpack__",
          [](const DeviceArray &self, nb::kwargs options) {
            return toPythonTensor(toHost(self)).attr("__dlpack__")(**options);
          },
          "The elements in host memory, shared with the array if they need not be copied.")
      .def("_give", &give, "A reference to the array, which the lazy device takes over.")
      .def_static("_take", &take, nb::arg("given"), "The array of a reference that the lazy device gives.")
      .def(
          "__bool__", [](const DeviceArray &self) { return nb::cast<bool>(nb::bool_(onlyElement(self))); },
          "That of the only element. InvalidArgumentError, a ValueError, if there are none or several.")
      .def(
          "__int__", [](const DeviceArray &self) { return converted(self, &PyNumber_Long); },
          nb::sig("def __int__(self) -> int"))
      .def(
          "__float__", [](const DeviceArray &self) { return converted(self, &PyNumber_Float); },
          nb::sig("def __float__(self) -> float"))
      .def(
          "__index__", [](const DeviceArray &self) { return converted(self, &PyNumber_Index); },
          nb::sig("def __index__(self) -> int"))
      .def("__dlpack_device__", [](const DeviceArray &) { return nb::make_tuple(1, 0); })
      .def("__repr__", &describe);
  deviceArrayType = reinterpret_cast<PyTypeObject *>(type.ptr());
}

} // namespace torchere::bindings
