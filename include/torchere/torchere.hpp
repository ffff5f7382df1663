// torchere.hpp: saved programs, called from C++20. Header-only, on torchere.h; docs/cpp.md is the guide.
//
//   torchere::Program resnet = torchere::Program::load("resnet18");
//   torchere::Result y = resnet({torchere::TensorView(image, {1, 3, 224, 224})});
//   std::span<const float> logits = y[0].data<float>();
//
// Errors are exceptions of type torchere::Error. Objects are handles: movable, and, where they can be copied,
// copies share one object. Threads may use one object at once; to assign or destroy it is for one thread.
#ifndef TORCHERE_TORCHERE_HPP
#define TORCHERE_TORCHERE_HPP

#include "torchere.h"

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace torchere {
// A namespace of its own in every name of the linker: the library has C++ of its own within `torchere`.
inline namespace api1 {

/// The code of an error, as torchere_status has it.
enum class ErrorCode : int32_t {
  Cancelled = TORCHERE_CANCELLED,
  Unknown = TORCHERE_UNKNOWN,
  InvalidArgument = TORCHERE_INVALID_ARGUMENT,
  DeadlineExceeded = TORCHERE_DEADLINE_EXCEEDED,
  NotFound = TORCHERE_NOT_FOUND,
  AlreadyExists = TORCHERE_ALREADY_EXISTS,
  PermissionDenied = TORCHERE_PERMISSION_DENIED,
  ResourceExhausted = TORCHERE_RESOURCE_EXHAUSTED,
  FailedPrecondition = TORCHERE_FAILED_PRECONDITION,
  Aborted = TORCHERE_ABORTED,
  OutOfRange = TORCHERE_OUT_OF_RANGE,
  Unimplemented = TORCHERE_UNIMPLEMENTED,
  Internal = TORCHERE_INTERNAL,
  Unavailable = TORCHERE_UNAVAILABLE,
  DataLoss = TORCHERE_DATA_LOSS,
  Unauthenticated = TORCHERE_UNAUTHENTICATED,
};

/// What every function throws: what() is "[x] wrong dtype: got float64, expected float32".
class Error : public std::runtime_error {
public:
  Error(ErrorCode code, const std::string &message) : std::runtime_error(message), errorCode(code) {}
  ErrorCode code() const noexcept { return errorCode; }
  /// "INVALID_ARGUMENT".
  const char *codeName() const noexcept {
    return torchere_status_name(static_cast<torchere_status>(errorCode));
  }

private:
  ErrorCode errorCode;
};

namespace detail {

inline void check(torchere_status status) {
  if (status != TORCHERE_OK)
    throw Error(static_cast<ErrorCode>(status), torchere_error_message());
}

/// A handle with one owner.
template <class Handle, torchere_status (*destroy)(Handle)> class Owned {
public:
  Owned() = default;
  explicit Owned(Handle handle) : handle(handle) {}
  Owned(Owned &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Owned() {
    if (handle)
      destroy(handle);
  }
  Handle get() const noexcept { return handle; }

private:
  Handle handle = nullptr;
};

template <class Structure> Structure sized() {
  Structure structure{};
  structure.struct_size = sizeof(Structure);
  return structure;
}

} // namespace detail

// ---- Element types ---------------------------------------------------------------------------------------

enum class DType : int32_t {
  None = 0, ///< of a value that is no tensor
  Bool = TORCHERE_BOOL,
  Int8 = TORCHERE_INT8,
  Int16 = TORCHERE_INT16,
  Int32 = TORCHERE_INT32,
  Int64 = TORCHERE_INT64,
  UInt8 = TORCHERE_UINT8,
  UInt16 = TORCHERE_UINT16,
  UInt32 = TORCHERE_UINT32,
  UInt64 = TORCHERE_UINT64,
  Float16 = TORCHERE_FLOAT16,
  BFloat16 = TORCHERE_BFLOAT16,
  Float32 = TORCHERE_FLOAT32,
  Float64 = TORCHERE_FLOAT64,
  Complex32 = TORCHERE_COMPLEX32,
  Complex64 = TORCHERE_COMPLEX64,
  Complex128 = TORCHERE_COMPLEX128,
  Float8E4M3FN = TORCHERE_FLOAT8_E4M3FN,
  Float8E4M3FNUZ = TORCHERE_FLOAT8_E4M3FNUZ,
  Float8E5M2 = TORCHERE_FLOAT8_E5M2,
  Float8E5M2FNUZ = TORCHERE_FLOAT8_E5M2FNUZ,
  Float8E8M0FNU = TORCHERE_FLOAT8_E8M0FNU,
};

/// Bytes an element.
inline size_t sizeOf(DType dtype) {
  return torchere_dtype_size(static_cast<torchere_dtype>(dtype));
}
/// torch's name: "float32".
inline std::string_view nameOf(DType dtype) {
  return torchere_dtype_name(static_cast<torchere_dtype>(dtype));
}

/// The dtype of a C++ type. For a type of one's own, of float16 say, specialize it:
/// `template <> inline constexpr torchere::DType torchere::dtypeOf<my::half> = torchere::DType::Float16;`
template <class T> inline constexpr DType dtypeOf = DType::None;
template <> inline constexpr DType dtypeOf<bool> = DType::Bool;
template <> inline constexpr DType dtypeOf<int8_t> = DType::Int8;
template <> inline constexpr DType dtypeOf<int16_t> = DType::Int16;
template <> inline constexpr DType dtypeOf<int32_t> = DType::Int32;
template <> inline constexpr DType dtypeOf<int64_t> = DType::Int64;
template <> inline constexpr DType dtypeOf<uint8_t> = DType::UInt8;
template <> inline constexpr DType dtypeOf<uint16_t> = DType::UInt16;
template <> inline constexpr DType dtypeOf<uint32_t> = DType::UInt32;
template <> inline constexpr DType dtypeOf<uint64_t> = DType::UInt64;
template <> inline constexpr DType dtypeOf<float> = DType::Float32;
template <> inline constexpr DType dtypeOf<double> = DType::Float64;
template <> inline constexpr DType dtypeOf<std::complex<float>> = DType::Complex64;
template <> inline constexpr DType dtypeOf<std::complex<double>> = DType::Complex128;

/// A type whose values can be a tensor's elements.
template <class T>
concept Element = dtypeOf<std::remove_cv_t<T>> != DType::None;

// ---- Tensors in host memory ------------------------------------------------------------------------------

using Shape = std::vector<int64_t>;

/// A view of elements in row-major order, with their shape: view(i, j) is one of them.
template <class T> class View {
public:
  View(std::span<T> elements, std::span<const int64_t> shape)
      : elements(elements), sizes(shape.begin(), shape.end()) {}

  const Shape &shape() const { return sizes; }
  size_t rank() const { return sizes.size(); }
  int64_t extent(size_t dimension) const { return sizes.at(dimension); }
  std::span<T> data() const { return elements; }
  size_t size() const { return elements.size(); }
  /// The element at the indices, one for each dimension; not checked, as those of std::mdspan.
  template <std::integral... Indices> T &operator()(Indices... indices) const {
    size_t place = 0, dimension = 0;
    ((place = place * static_cast<size_t>(sizes[dimension++]) + static_cast<size_t>(indices)), ...);
    return elements[place];
  }

private:
  std::span<T> elements;
  Shape sizes;
};

/// A tensor in memory of the caller's, who keeps it until the call that it is passed to has returned.
class TensorView {
public:
  /// Elements in row-major order: an array, a vector, a span.
  template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<Range> && Element<std::ranges::range_value_t<Range>>
  TensorView(const Range &elements, Shape shape)
      : TensorView(dtypeOf<std::ranges::range_value_t<Range>>, std::ranges::data(elements),
                   std::ranges::size(elements) * sizeof(std::ranges::range_value_t<Range>),
                   std::move(shape)) {}
  /// One dimension.
  template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<Range> && Element<std::ranges::range_value_t<Range>>
  explicit TensorView(const Range &elements)
      : TensorView(elements, Shape{static_cast<int64_t>(std::ranges::size(elements))}) {}
  /// Any dtype; strides in elements.
  TensorView(DType dtype, const void *data, size_t byteSize, Shape shape,
             std::optional<Shape> strides = std::nullopt)
      : elementType(dtype), first(data), bytes(byteSize), sizes(std::move(shape)), steps(std::move(strides)) {
  }

  DType dtype() const { return elementType; }
  const Shape &shape() const { return sizes; }

  /// Refers to this view.
  torchere_tensor structure(const char *name = nullptr) const {
    if (steps && steps->size() != sizes.size())
      throw Error(ErrorCode::InvalidArgument, "[strides] got " + std::to_string(steps->size()) +
                                                  ", expected " + std::to_string(sizes.size()));
    auto tensor = detail::sized<torchere_tensor>();
    tensor.name = name;
    tensor.dtype = static_cast<torchere_dtype>(elementType);
    tensor.data = first;
    tensor.byte_size = bytes;
    tensor.rank = sizes.size();
    tensor.dims = sizes.data();
    tensor.strides = steps ? steps->data() : nullptr;
    return tensor;
  }

private:
  DType elementType;
  const void *first;
  size_t bytes;
  Shape sizes;
  std::optional<Shape> steps;
};

// ---- Descriptions ----------------------------------------------------------------------------------------

enum class Kind : int32_t {
  Tensor = TORCHERE_KIND_TENSOR,
  Array = TORCHERE_KIND_ARRAY,
  Int = TORCHERE_KIND_INT,
  Float = TORCHERE_KIND_FLOAT,
  Bool = TORCHERE_KIND_BOOL,
  String = TORCHERE_KIND_STRING,
  None = TORCHERE_KIND_NONE,
  Other = TORCHERE_KIND_OTHER,
};

/// A size of a tensor: `size` is TORCHERE_DYNAMIC where calls choose it, within the bounds.
struct Dimension {
  int64_t size = 0;
  std::string name; ///< "batch", "2*batch + 1"; empty where the size is known
  int64_t minimum = 0, maximum = 0;
  bool isDynamic() const { return size == TORCHERE_DYNAMIC; }
};

using Constant = std::variant<std::monostate, int64_t, double, bool, std::string>;

/// An input or output of a function, or a state.
struct ValueInfo {
  std::string name;
  Kind kind = Kind::Tensor;
  bool isConstant = false;
  Constant constant; ///< its value; an Other's is its text
  DType dtype = DType::None;
  std::vector<Dimension> dimensions;
};

namespace detail {

inline Constant constantOf(const torchere_value_info &info) {
  switch (info.kind) {
  case TORCHERE_KIND_INT:
    return info.integer;
  case TORCHERE_KIND_FLOAT:
    return info.number;
  case TORCHERE_KIND_BOOL:
    return info.integer != 0;
  case TORCHERE_KIND_NONE:
    return {};
  default:
    return std::string(info.string);
  }
}

inline ValueInfo describe(const torchere_value_info &info) {
  ValueInfo value{info.name, static_cast<Kind>(info.kind), info.is_constant != 0, {}, {}, {}};
  value.dtype = static_cast<DType>(info.dtype);
  if (value.isConstant)
    value.constant = constantOf(info);
  for (size_t i = 0; i < info.rank; ++i) {
    const char *name = info.dim_names ? info.dim_names[i] : nullptr;
    value.dimensions.push_back({info.dims[i], name ? name : "", info.dim_minimums[i], info.dim_maximums[i]});
  }
  return value;
}

} // namespace detail

// ---- Plugins and clients ---------------------------------------------------------------------------------

struct PluginInfo {
  std::string name, path, origin;
};

/// The plugins that clients find by name.
inline std::vector<PluginInfo> plugins() {
  torchere_plugins handle = nullptr;
  detail::check(torchere_plugins_create(&handle));
  detail::Owned<torchere_plugins, torchere_plugins_destroy> list(handle);
  size_t count = 0;
  detail::check(torchere_plugins_count(handle, &count));
  std::vector<PluginInfo> found;
  for (size_t i = 0; i < count; ++i) {
    auto info = detail::sized<torchere_plugin_info>();
    detail::check(torchere_plugins_get(handle, i, &info));
    found.push_back({info.name, info.path, info.origin});
  }
  return found;
}

/// Executables on disk: docs/cache.md.
struct Cache {
  enum class Use : int32_t {
    Environment = TORCHERE_CACHE_ENVIRONMENT, ///< as TORCHERE_CACHE and TORCHERE_CACHE_DIR say
    Off = TORCHERE_CACHE_OFF,
    On = TORCHERE_CACHE_ON,
  };
  Use use = Use::Environment;
  std::string directory = {}; ///< absolute; empty: the environment's
  uint64_t limit = 0;         ///< bytes; 0: the environment's
};

struct ClientOptions {
  std::string plugin = {};                      ///< name or path; empty: the variable PJRT_DEVICE, else "cpu"
  std::map<std::string, Constant> options = {}; ///< the plugin's own
  Cache cache = {};
};

struct DeviceInfo {
  int32_t id = 0;
  std::string kind, description;
};

/// A plugin's devices. Equal options give one client, which the process keeps.
class Client {
public:
  explicit Client(const ClientOptions &options = {}) : handle(make(options)) {}
  explicit Client(torchere_client owned) : handle(owned) {}

  std::string platform() const { return info().platform; }
  std::string platformVersion() const { return info().platform_version; }
  std::string pluginPath() const { return info().plugin_path; }
  struct Counts {
    int64_t compiled = 0, loaded = 0, reused = 0;
  };
  /// Programs compiled, loaded from the cache on disk, found in use.
  Counts counts() const {
    torchere_client_info now = info();
    return {now.compiled, now.loaded, now.reused};
  }
  std::vector<DeviceInfo> devices() const {
    std::vector<DeviceInfo> list;
    for (size_t i = 0, count = info().device_count; i < count; ++i) {
      auto device = detail::sized<torchere_device_info>();
      detail::check(torchere_client_get_device(handle.get(), i, &device));
      list.push_back({device.id, device.kind, device.description});
    }
    return list;
  }
  torchere_client get() const { return handle.get(); }

private:
  static torchere_client make(const ClientOptions &options) {
    std::vector<torchere_option> list;
    for (const auto &[name, value] : options.options) {
      auto &option = list.emplace_back(detail::sized<torchere_option>());
      option.name = name.c_str();
      if (const auto *integer = std::get_if<int64_t>(&value)) {
        option.kind = TORCHERE_KIND_INT;
        option.integer = *integer;
      } else if (const auto *number = std::get_if<double>(&value)) {
        option.kind = TORCHERE_KIND_FLOAT;
        option.number = *number;
      } else if (const auto *flag = std::get_if<bool>(&value)) {
        option.kind = TORCHERE_KIND_BOOL;
        option.integer = *flag;
      } else if (const auto *text = std::get_if<std::string>(&value)) {
        option.kind = TORCHERE_KIND_STRING;
        option.string = text->c_str();
      }
    }
    auto given = detail::sized<torchere_client_options>();
    given.plugin = options.plugin.empty() ? nullptr : options.plugin.c_str();
    given.options = list.data();
    given.option_count = list.size();
    given.cache = static_cast<int32_t>(options.cache.use);
    given.cache_directory = options.cache.directory.empty() ? nullptr : options.cache.directory.c_str();
    given.cache_limit = options.cache.limit;
    torchere_client client = nullptr;
    detail::check(torchere_client_create(&given, &client));
    return client;
  }
  torchere_client_info info() const {
    auto now = detail::sized<torchere_client_info>();
    detail::check(torchere_client_get_info(handle.get(), &now));
    return now;
  }
  detail::Owned<torchere_client, torchere_client_destroy> handle;
};

// ---- Results ---------------------------------------------------------------------------------------------

namespace detail {

inline Shape shapeOf(const torchere_value_info &info) {
  return Shape(info.dims, info.dims + info.rank);
}

inline void checkDType(DType asked, DType has, std::string_view name) {
  if (asked != has)
    throw Error(ErrorCode::InvalidArgument, "[" + std::string(name) + "] wrong dtype: got " +
                                                std::string(nameOf(asked)) + ", expected " +
                                                std::string(nameOf(has)));
}

} // namespace detail

/// An array on the device; copies share it. It never changes.
class Array {
public:
  explicit Array(torchere_array owned) : handle(std::make_shared<Handle>(owned)) {}

  DType dtype() const { return static_cast<DType>(info().dtype); }
  Shape shape() const { return detail::shapeOf(info()); }
  bool isReady() const {
    int32_t ready = 0;
    detail::check(torchere_array_is_ready(get(), &ready));
    return ready != 0;
  }
  void wait() const { detail::check(torchere_array_wait(get())); }
  /// Waits. The elements, which live as long as the array.
  std::span<const std::byte> bytes() const {
    const void *data = nullptr;
    size_t size = 0;
    detail::check(torchere_array_data(get(), &data, &size));
    return {static_cast<const std::byte *>(data), size};
  }
  template <Element T> std::span<const T> data() const {
    detail::checkDType(dtypeOf<T>, dtype(), "array");
    std::span<const std::byte> memory = bytes();
    return {reinterpret_cast<const T *>(memory.data()), memory.size() / sizeof(T)};
  }
  template <Element T> View<const T> view() const { return {data<T>(), shape()}; }
  torchere_array get() const { return handle->get(); }

private:
  using Handle = detail::Owned<torchere_array, torchere_array_destroy>;
  torchere_value_info info() const {
    auto now = detail::sized<torchere_value_info>();
    detail::check(torchere_array_get(get(), &now));
    return now;
  }
  std::shared_ptr<Handle> handle;
};

namespace detail {
using ResultHandle = Owned<torchere_result, torchere_result_destroy>;
}

/// One output of a call. Keeps the call's results.
class Output {
public:
  Output(std::shared_ptr<detail::ResultHandle> result, size_t index)
      : result(std::move(result)), index(index) {}

  std::string name() const { return info().name; }
  DType dtype() const { return static_cast<DType>(info().dtype); }
  Shape shape() const { return detail::shapeOf(info()); }
  ValueInfo describe() const { return detail::describe(info()); }
  /// Of an output that is no tensor, which the program was exported with.
  Constant constant() const { return detail::constantOf(info()); }
  /// Waits. The elements, which live as long as this object or the result.
  std::span<const std::byte> bytes() const {
    const void *data = nullptr;
    size_t size = 0;
    detail::check(torchere_result_data(result->get(), index, &data, &size));
    return {static_cast<const std::byte *>(data), size};
  }
  template <Element T> std::span<const T> data() const {
    torchere_value_info now = info();
    if (!now.is_constant)
      detail::checkDType(dtypeOf<T>, static_cast<DType>(now.dtype), now.name);
    std::span<const std::byte> memory = bytes();
    return {reinterpret_cast<const T *>(memory.data()), memory.size() / sizeof(T)};
  }
  template <Element T> View<const T> view() const { return {data<T>(), shape()}; }
  template <Element T> std::vector<T> copy() const {
    std::span<const T> elements = data<T>();
    return {elements.begin(), elements.end()};
  }
  /// The only element.
  template <Element T> T item() const {
    std::span<const T> elements = data<T>();
    if (elements.size() != 1)
      throw Error(ErrorCode::InvalidArgument, "[" + name() + "] not one element: got " +
                                                  std::to_string(elements.size()) + ", expected 1");
    return elements.front();
  }
  /// Of an asynchronous call: the output on the device, for other calls. Does not wait.
  Array array() const {
    torchere_array made = nullptr;
    detail::check(torchere_result_array(result->get(), index, &made));
    return Array(made);
  }

private:
  torchere_value_info info() const {
    auto now = detail::sized<torchere_value_info>();
    detail::check(torchere_result_get(result->get(), index, &now));
    return now;
  }
  std::shared_ptr<detail::ResultHandle> result;
  size_t index;
};

/// What a call gives: its outputs in order, then the new values of inputs that it mutates. Copies share it.
class Result {
public:
  explicit Result(torchere_result owned) : handle(std::make_shared<detail::ResultHandle>(owned)) {}

  size_t size() const {
    size_t count = 0;
    detail::check(torchere_result_count(get(), &count));
    return count;
  }
  Output operator[](size_t index) const {
    if (index >= size())
      throw Error(ErrorCode::OutOfRange, "[result] no such output: got " + std::to_string(index) +
                                             ", expected less than " + std::to_string(size()));
    return {handle, index};
  }
  Output operator[](std::string_view name) const {
    size_t index = 0;
    detail::check(torchere_result_find(get(), std::string(name).c_str(), &index));
    return {handle, index};
  }
  Output operator[](const char *name) const { return (*this)[std::string_view(name)]; }
  Output operator[](int index) const { return (*this)[static_cast<size_t>(index)]; }
  torchere_result get() const { return handle->get(); }

protected:
  std::shared_ptr<detail::ResultHandle> handle;
};

/// The result of a call that goes on. Its outputs can be inputs of other calls before they are computed.
class Future : public Result {
public:
  using Result::Result;
  /// 1. Throws the execution's error, every time.
  void wait() const { detail::check(torchere_result_wait(get())); }
  bool isReady() const {
    int32_t ready = 0;
    detail::check(torchere_result_is_ready(get(), &ready));
    return ready != 0;
  }
  /// Waits.
  Result result() const {
    wait();
    return *this;
  }
  /// Calls `done` once, with null or with the execution's error, perhaps on a thread of the plugin: it must
  /// be quick, must not throw, and must not call programs or wait.
  void then(std::function<void(const Error *)> done) const {
    auto held = std::make_unique<std::function<void(const Error *)>>(std::move(done));
    detail::check(torchere_result_on_ready(get(), &callBack, held.get()));
    (void)held.release(); // callBack's, who has run or will
  }

private:
  static void callBack(void *held, torchere_status status, const char *message) {
    std::unique_ptr<std::function<void(const Error *)>> done(
        static_cast<std::function<void(const Error *)> *>(held));
    if (status == TORCHERE_OK)
      return (*done)(nullptr);
    Error error(static_cast<ErrorCode>(status), message);
    (*done)(&error);
  }
};

// ---- Inputs ----------------------------------------------------------------------------------------------

/// An input of a call, by its place in the list, or by name: `{{"x", tensor}, {"n", 3}}`.
class Input {
public:
  Input(TensorView tensor) : value(std::move(tensor)) {}
  Input(Array array) : value(std::move(array)) {}
  Input(const Output &output) : value(output.array()) {}
  Input(std::nullptr_t) : value(nullptr) {}
  template <class T>
    requires std::same_as<T, bool>
  Input(T flag) : value(flag) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Input(T integer) : value(static_cast<int64_t>(integer)) {}
  template <std::floating_point T> Input(T number) : value(static_cast<double>(number)) {}
  /// A constant that is a string.
  Input(std::string text) : value(std::move(text)) {}
  /// A vector or array of elements is a tensor of one dimension.
  template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<Range> && Element<std::ranges::range_value_t<Range>> &&
             (!std::convertible_to<Range, std::string_view>)
  Input(const Range &elements) : value(TensorView(elements)) {}
  template <class Value>
    requires std::constructible_from<Input, Value>
  Input(std::string name, Value &&value) : Input(std::forward<Value>(value)) {
    inputName = std::move(name);
  }

  /// Refers to this object.
  torchere_input structure() const {
    auto input = detail::sized<torchere_input>();
    input.name = inputName ? inputName->c_str() : nullptr;
    if (const auto *tensor = std::get_if<TensorView>(&value)) {
      input.kind = TORCHERE_KIND_TENSOR;
      input.tensor = tensor->structure();
    } else if (const auto *array = std::get_if<Array>(&value)) {
      input.kind = TORCHERE_KIND_ARRAY;
      input.array = array->get();
    } else if (const auto *integer = std::get_if<int64_t>(&value)) {
      input.kind = TORCHERE_KIND_INT;
      input.integer = *integer;
    } else if (const auto *number = std::get_if<double>(&value)) {
      input.kind = TORCHERE_KIND_FLOAT;
      input.number = *number;
    } else if (const auto *flag = std::get_if<bool>(&value)) {
      input.kind = TORCHERE_KIND_BOOL;
      input.integer = *flag;
    } else if (const auto *text = std::get_if<std::string>(&value)) {
      input.kind = TORCHERE_KIND_STRING;
      input.string = text->c_str();
    } else {
      input.kind = TORCHERE_KIND_NONE;
    }
    return input;
  }

private:
  std::optional<std::string> inputName;
  std::variant<TensorView, Array, int64_t, double, bool, std::string, std::nullptr_t> value;
};

using Inputs = std::span<const Input>;

/// Memory of the caller's for an output: elements that can be written, in row-major order.
class Destination {
public:
  template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<Range> &&
                 std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>
  Destination(Range &elements)
      : memory(std::ranges::data(elements)),
        byteSize(std::ranges::size(elements) * sizeof(std::ranges::range_value_t<Range>)) {}
  template <std::ranges::contiguous_range Range>
  Destination(std::string name, Range &elements) : Destination(elements) {
    outputName = std::move(name);
  }
  torchere_destination structure() const {
    auto destination = detail::sized<torchere_destination>();
    destination.name = outputName ? outputName->c_str() : nullptr;
    destination.data = memory;
    destination.byte_size = byteSize;
    return destination;
  }

private:
  std::optional<std::string> outputName;
  void *memory;
  size_t byteSize;
};

// ---- Programs --------------------------------------------------------------------------------------------

namespace detail {
using ProgramHandle = Owned<torchere_program, torchere_program_destroy>;
}

/// An entry point. Keeps the program.
class Function {
public:
  Function(std::shared_ptr<detail::ProgramHandle> program, size_t index)
      : program(std::move(program)), index(index) {}

  std::string name() const { return info().name; }
  std::vector<ValueInfo> inputs() const { return describe(info().input_count, torchere_program_get_input); }
  std::vector<ValueInfo> outputs() const {
    return describe(info().output_count, torchere_program_get_output);
  }
  struct Counts {
    int64_t calls = 0, refinements = 0, preparations = 0;
  };
  Counts counts() const {
    torchere_function_info now = info();
    return {now.calls, now.refinements, now.preparations};
  }

  /// Calls and waits.
  Result operator()(Inputs inputs) const { return Result(call(torchere_call, inputs)); }
  Result operator()(std::initializer_list<Input> inputs) const {
    return (*this)(Inputs(inputs.begin(), inputs.size()));
  }
  Result operator()() const { return (*this)(Inputs()); }
  Result operator()(const std::map<std::string, Input> &inputs) const {
    std::vector<torchere_input> list = named(inputs);
    torchere_result result = nullptr;
    detail::check(torchere_call(program->get(), index, list.data(), list.size(), &result));
    return Result(result);
  }
  /// Returns before the outputs are computed; the inputs' memory is free again.
  Future async(Inputs inputs) const { return Future(call(torchere_call_async, inputs)); }
  Future async(std::initializer_list<Input> inputs) const {
    return async(Inputs(inputs.begin(), inputs.size()));
  }
  Future async(const std::map<std::string, Input> &inputs) const {
    std::vector<torchere_input> list = named(inputs);
    torchere_result result = nullptr;
    detail::check(torchere_call_async(program->get(), index, list.data(), list.size(), &result));
    return Future(result);
  }
  /// Calls, waits, and writes outputs into the caller's memory, which must not be too short.
  void into(std::span<const Destination> outputs, Inputs inputs) const {
    std::vector<torchere_input> list = structures(inputs);
    std::vector<torchere_destination> destinations;
    for (const Destination &output : outputs)
      destinations.push_back(output.structure());
    detail::check(torchere_call_into(program->get(), index, list.data(), list.size(), destinations.data(),
                                     destinations.size()));
  }
  void into(std::initializer_list<Destination> outputs, std::initializer_list<Input> inputs) const {
    into(std::span(outputs.begin(), outputs.size()), Inputs(inputs.begin(), inputs.size()));
  }

private:
  static std::vector<torchere_input> structures(Inputs inputs) {
    std::vector<torchere_input> list;
    list.reserve(inputs.size());
    for (const Input &input : inputs)
      list.push_back(input.structure());
    return list;
  }
  static std::vector<torchere_input> named(const std::map<std::string, Input> &inputs) {
    std::vector<torchere_input> list;
    for (const auto &[name, input] : inputs) {
      list.push_back(input.structure());
      list.back().name = name.c_str();
    }
    return list;
  }
  torchere_result call(decltype(torchere_call) function, Inputs inputs) const {
    std::vector<torchere_input> list = structures(inputs);
    torchere_result result = nullptr;
    detail::check(function(program->get(), index, list.data(), list.size(), &result));
    return result;
  }
  std::vector<ValueInfo> describe(size_t count, decltype(torchere_program_get_input) get) const {
    std::vector<ValueInfo> values;
    for (size_t i = 0; i < count; ++i) {
      auto value = detail::sized<torchere_value_info>();
      detail::check(get(program->get(), index, i, &value));
      values.push_back(detail::describe(value));
    }
    return values;
  }
  torchere_function_info info() const {
    auto now = detail::sized<torchere_function_info>();
    detail::check(torchere_program_get_function(program->get(), index, &now));
    return now;
  }
  std::shared_ptr<detail::ProgramHandle> program;
  size_t index;
};

/// All states of a program at one time.
class Snapshot {
public:
  explicit Snapshot(torchere_snapshot owned) : handle(owned) {}
  torchere_snapshot get() const { return handle.get(); }

private:
  detail::Owned<torchere_snapshot, torchere_snapshot_destroy> handle;
};

struct LoadOptions {
  const Client *client = nullptr;     ///< null: a client with default options
  std::optional<int32_t> device = {}; ///< the id of one of the client's devices; by default its first
  bool verify = false;                ///< compare all files with the digests saved with them
  std::map<std::string, TensorView> weights = {}; ///< other values for parameters and buffers; copied
};

/// A saved program on a device, with its state. Copies share it; clone() does not.
class Program {
public:
  static Program load(const std::string &path, const LoadOptions &options = {}) {
    std::vector<torchere_tensor> weights;
    for (const auto &[name, tensor] : options.weights)
      weights.push_back(tensor.structure(name.c_str()));
    auto given = detail::sized<torchere_load_options>();
    given.client = options.client ? options.client->get() : nullptr;
    given.has_device = options.device.has_value();
    given.device = options.device.value_or(0);
    given.verify = options.verify;
    given.weights = weights.data();
    given.weight_count = weights.size();
    torchere_program program = nullptr;
    detail::check(torchere_program_load(path.c_str(), &given, &program));
    return Program(program);
  }
  explicit Program(torchere_program owned) : handle(std::make_shared<detail::ProgramHandle>(owned)) {}
  /// The same weights and executables, and a state of its own, which begins with the present one.
  Program clone() const {
    torchere_program made = nullptr;
    detail::check(torchere_program_clone(get(), &made));
    return Program(made);
  }
  Client client() const {
    torchere_client made = nullptr;
    detail::check(torchere_program_get_client(get(), &made));
    return Client(made);
  }
  DeviceInfo device() const {
    auto info = detail::sized<torchere_device_info>();
    detail::check(torchere_program_get_device(get(), &info));
    return {info.id, info.kind, info.description};
  }

  /// The entry points, the default first.
  std::vector<Function> functions() const {
    size_t count = 0;
    detail::check(torchere_program_function_count(get(), &count));
    std::vector<Function> list;
    for (size_t i = 0; i < count; ++i)
      list.emplace_back(handle, i);
    return list;
  }
  Function function(std::string_view name) const {
    size_t index = 0;
    detail::check(torchere_program_find_function(get(), std::string(name).c_str(), &index));
    return {handle, index};
  }
  /// program("encode")({x})
  template <class Name>
    requires std::convertible_to<const Name &, std::string_view>
  Function operator()(const Name &name) const {
    return function(name);
  }

  /// The default entry point, called. See Function.
  Result operator()(std::initializer_list<Input> inputs) const { return first()(inputs); }
  Result operator()(Inputs inputs) const { return first()(inputs); }
  Result operator()(const std::map<std::string, Input> &inputs) const { return first()(inputs); }
  Result operator()() const { return first()(); }
  Future async(std::initializer_list<Input> inputs) const { return first().async(inputs); }
  Future async(Inputs inputs) const { return first().async(inputs); }
  Future async(const std::map<std::string, Input> &inputs) const { return first().async(inputs); }
  void into(std::initializer_list<Destination> outputs, std::initializer_list<Input> inputs) const {
    first().into(outputs, inputs);
  }
  void into(std::span<const Destination> outputs, Inputs inputs) const { first().into(outputs, inputs); }
  std::vector<ValueInfo> inputs() const { return first().inputs(); }
  std::vector<ValueInfo> outputs() const { return first().outputs(); }

  /// A copy on the device, which calls take without copying it again.
  Array toDevice(const TensorView &tensor) const {
    torchere_tensor given = tensor.structure();
    torchere_array array = nullptr;
    detail::check(torchere_array_create(get(), &given, &array));
    return Array(array);
  }

  /// What calls write, by name, without the random numbers.
  std::vector<ValueInfo> states() const {
    size_t count = 0;
    detail::check(torchere_program_state_count(get(), &count));
    std::vector<ValueInfo> list;
    for (size_t i = 0; i < count; ++i) {
      auto info = detail::sized<torchere_value_info>();
      detail::check(torchere_program_get_state(get(), i, &info));
      list.push_back(detail::describe(info));
    }
    return list;
  }
  /// Copies a state, parameter or buffer into memory that is not too short.
  template <Element T> void read(const std::string &name, std::span<T> elements) const {
    detail::check(torchere_program_read(get(), name.c_str(), elements.data(), elements.size_bytes()));
  }
  /// A state's elements.
  template <Element T> std::vector<T> read(const std::string &name) const {
    for (const ValueInfo &state : states()) {
      if (state.name != name)
        continue;
      detail::checkDType(dtypeOf<T>, state.dtype, name);
      size_t count = 1;
      for (const Dimension &dimension : state.dimensions)
        count *= static_cast<size_t>(dimension.size);
      auto elements = std::make_unique<T[]>(count); // a std::vector<bool> has no memory of bools
      read<T>(name, std::span<T>(elements.get(), count));
      return {elements.get(), elements.get() + count};
    }
    throw Error(ErrorCode::NotFound, "[" + name + "] no such state in the program");
  }
  /// Sets states: all of them, or none if there is an error.
  void write(const std::map<std::string, TensorView> &states) const {
    std::vector<torchere_tensor> list;
    for (const auto &[name, tensor] : states)
      list.push_back(tensor.structure(name.c_str()));
    detail::check(torchere_program_write(get(), list.data(), list.size()));
  }
  Snapshot snapshot() const {
    torchere_snapshot made = nullptr;
    detail::check(torchere_program_snapshot(get(), &made));
    return Snapshot(made);
  }
  void restore(const Snapshot &snapshot) const {
    detail::check(torchere_program_restore(get(), snapshot.get()));
  }
  void reset() const { detail::check(torchere_program_reset(get())); }
  void manualSeed(uint64_t seed) const { detail::check(torchere_program_manual_seed(get(), seed)); }

  torchere_program get() const { return handle->get(); }

private:
  Function first() const { return {handle, 0}; }
  std::shared_ptr<detail::ProgramHandle> handle;
};

/// The library's release, "0.1.0".
inline std::string_view version() {
  return torchere_version();
}

} // namespace api1
} // namespace torchere

#endif // TORCHERE_TORCHERE_HPP
