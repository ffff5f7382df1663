// Errors, element types, tensors in host memory, and what is known of values. Part of torchere.hpp.
#ifndef TORCHERE_TENSOR_HPP
#define TORCHERE_TENSOR_HPP

#include "torchere.h"

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
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

} // namespace api1
} // namespace torchere

#endif // TORCHERE_TENSOR_HPP
