// The inputs and outputs of calls: in host memory, on the device, awaited. Part of torchere.hpp.
#ifndef TORCHERE_CALL_HPP
#define TORCHERE_CALL_HPP

#include "tensor.hpp"

#include <functional>
#include <memory>

namespace torchere {
// A namespace of its own in every name of the linker: the library has C++ of its own within `torchere`.
inline namespace api1 {

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

/// Memory of the caller's for an output: elements that can be written, in row-major order. Elements of a type
/// that has a dtype have to be the output's; std::byte is memory of any.
class Destination {
public:
  template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<Range> &&
                 std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>
  Destination(Range &elements)
      : memory(std::ranges::data(elements)),
        byteSize(std::ranges::size(elements) * sizeof(std::ranges::range_value_t<Range>)),
        elementType(dtypeOf<std::ranges::range_value_t<Range>>) {}
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
  /// Throws InvalidArgument if the output, at `place` where the memory has no name, has another dtype.
  void checkDType(torchere_program program, size_t function, size_t place) const {
    if (elementType == DType::None)
      return;
    auto info = detail::sized<torchere_value_info>();
    if (outputName)
      detail::check(torchere_program_find_output(program, function, outputName->c_str(), &place));
    if (torchere_program_get_output(program, function, place, &info) == TORCHERE_OK && !info.is_constant)
      detail::checkDType(elementType, static_cast<DType>(info.dtype), info.name);
  }

private:
  std::optional<std::string> outputName;
  void *memory;
  size_t byteSize;
  DType elementType;
};

} // namespace api1
} // namespace torchere

#endif // TORCHERE_CALL_HPP
