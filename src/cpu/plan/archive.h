// How values are written as bytes, and read back from bytes that nobody vouches for. A structure lists its
// fields once, for both.
#pragma once

#include "cpu/plan/plan.h"

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace torchere::cpu {

/// The fields of a structure that are stored: `static auto fields(auto &object) { return std::tie(...); }` in
/// it, or a specialization of this.
template <class T> struct Fields {
  static auto of(auto &object) { return T::fields(object); }
};

/// Of each stored enumeration, whose enumerators count up from 0: `last`.
template <class E> struct Enumerators;
template <> struct Enumerators<ElementType> {
  static constexpr ElementType last = elementTypes.back().type;
};
template <> struct Enumerators<DType> {
  static constexpr DType last = DType::F8E8M0FNU;
};
template <> struct Enumerators<Home> {
  static constexpr Home last = Home::Part;
};

template <> struct Fields<View> {
  static auto of(auto &view) {
    return std::tie(view.buffer, view.type, view.offset, view.shape, view.strides);
  }
};
/// Not between which steps it is in use: the arena is laid out already.
template <> struct Fields<Buffer> {
  static auto of(auto &buffer) { return std::tie(buffer.home, buffer.index, buffer.bytes, buffer.offset); }
};
template <> struct Fields<StepOrigin> {
  static auto of(auto &origin) { return std::tie(origin.op, origin.source, origin.bytes); }
};

template <class T> struct IsVector : std::false_type {};
template <class T> struct IsVector<std::vector<T>> : std::true_type {};
template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};
/// What is stored as its bytes in memory.
template <class T>
concept Plain = (std::is_arithmetic_v<T> || std::is_enum_v<T>) && !std::is_same_v<T, bool>;

static_assert(std::endian::native == std::endian::little, "plain values are stored as they lie in memory");

class ArchiveWriter {
public:
  virtual ~ArchiveWriter() = default;

  void putBytes(const void *data, size_t size) { written.append(static_cast<const char *>(data), size); }

  template <class T> void put(const T &value) {
    if constexpr (std::is_same_v<T, std::unique_ptr<const Step>>) {
      putStep(*value);
    } else if constexpr (std::is_same_v<T, bool>) {
      written.push_back(value ? 1 : 0);
    } else if constexpr (Plain<T>) {
      putBytes(&value, sizeof value);
    } else if constexpr (std::is_array_v<T>) {
      for (const auto &element : value)
        put(element);
    } else if constexpr (std::is_same_v<T, std::string>) {
      put(uint64_t(value.size()));
      putBytes(value.data(), value.size());
    } else if constexpr (IsVector<T>::value) {
      put(uint64_t(value.size()));
      for (size_t i = 0; i < value.size(); ++i)
        put(static_cast<const typename T::value_type &>(value[i]));
    } else if constexpr (IsOptional<T>::value) {
      put(value.has_value());
      if (value)
        put(*value);
    } else {
      std::apply([this](const auto &...fields) { (put(fields), ...); }, Fields<T>::of(value));
    }
  }

  std::string take() { return std::move(written); }

protected:
  virtual void putStep(const Step &step) = 0;

private:
  std::string written;
};

/// After the first failure nothing is read any more.
class ArchiveReader {
public:
  explicit ArchiveReader(std::string_view bytes) : left(bytes) {}
  virtual ~ArchiveReader() = default;

  bool hasFailed() const { return !status; }
  /// The first failure; or that there are bytes left.
  Status finish() {
    if (status && !left.empty())
      refuse(invalidArgument("{} bytes behind the end", left.size()).value());
    return std::move(status);
  }
  void refuse(Error error) {
    if (status)
      status = tl::unexpected(std::move(error));
    left = {};
  }

  std::string_view getBytes(size_t size) {
    if (hasFailed() || size > left.size()) {
      refuse(invalidArgument("cut off: got {} bytes, expected {}", left.size(), size).value());
      return {};
    }
    std::string_view bytes = left.substr(0, size);
    left.remove_prefix(size);
    return bytes;
  }

  template <class T> void get(T &value) {
    if constexpr (std::is_same_v<T, std::unique_ptr<const Step>>) {
      value = getStep();
    } else if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      get(byte);
      value = byte != 0;
      if (byte > 1)
        refuse(invalidArgument("a truth value: got {}, expected 0 or 1", byte).value());
    } else if constexpr (Plain<T>) {
      if (std::string_view bytes = getBytes(sizeof value); !bytes.empty())
        std::memcpy(&value, bytes.data(), sizeof value);
      if constexpr (std::is_enum_v<T>)
        checkEnumerator(value);
    } else if constexpr (std::is_array_v<T>) {
      for (auto &element : value)
        get(element);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = getBytes(getCount(1));
    } else if constexpr (IsVector<T>::value) {
      getVector(value);
    } else if constexpr (IsOptional<T>::value) {
      bool has = false;
      get(has);
      if (has)
        get(value.emplace());
    } else {
      std::apply([this](auto &...fields) { (get(fields), ...); }, Fields<T>::of(value));
    }
  }

protected:
  /// Null after a failure.
  virtual std::unique_ptr<const Step> getStep() = 0;

private:
  /// How many elements follow, each of at least so many bytes: no more than the bytes that there are.
  size_t getCount(size_t bytes) {
    uint64_t count = 0;
    get(count);
    if (count <= left.size() / bytes)
      return static_cast<size_t>(count);
    refuse(invalidArgument("cut off: got {} bytes, expected {} elements", left.size(), count).value());
    return 0;
  }

  template <class T> void getVector(std::vector<T> &value) {
    value.clear();
    size_t count = getCount(Plain<T> ? sizeof(T) : 1);
    for (size_t i = 0; i < count && !hasFailed(); ++i) {
      T element{};
      get(element);
      value.push_back(std::move(element));
    }
  }

  template <class E> void checkEnumerator(E &value) {
    using Number = std::underlying_type_t<E>;
    auto last = static_cast<Number>(Enumerators<E>::last), number = static_cast<Number>(value);
    if (number >= 0 && number <= last)
      return;
    refuse(
        invalidArgument("an enumerator: got {}, expected 0 to {}", int64_t(number), int64_t(last)).value());
    value = E();
  }

  std::string_view left;
  Status status;
};

} // namespace torchere::cpu
