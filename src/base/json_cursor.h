// JsonCursor: typed reads of a JSON document that name the key that is wrong; the first failure is sticky.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace torchere {

class JsonCursor;
class JsonElements;

/// A parsed file and the first failure of its cursors, which refer to it.
class TORCHERE_EXPORT JsonDocument {
public:
  /// Parses as parseJson() does; a syntax error is the first failure.
  JsonDocument(std::string_view text, std::string_view subject);
  JsonDocument(const JsonDocument &) = delete;
  JsonDocument &operator=(const JsonDocument &) = delete;

  JsonCursor root();

private:
  friend class JsonCursor;

  Json value;
  std::string subject;
  std::optional<Error> failure;
};

/// A value in a document. A read that does not match it fails, with the place:
/// `[forward.meta] input_signature[2].dtype: got a number, expected a string`. The failure is sticky: later
/// reads return null, 0, false, "" or no elements, later failures are dropped, and the caller checks once,
/// with finish().
class TORCHERE_EXPORT JsonCursor {
public:
  /// Null after a failure.
  const Json &json() const;
  const std::string &subject() const { return document->subject; }

  bool failed() const { return document->failure.has_value(); }
  /// The first failure of the document, if there is one.
  Status finish() const;
  /// Fails with `[subject] place: text`.
  template <class... Args> void fail(fmt::format_string<Args...> format, Args &&...args) const {
    if (!failed())
      failWith(fmt::format(format, std::forward<Args>(args)...));
  }
  /// The value of `result`; fails with its error, unchanged, and returns a default value.
  template <class T> T take(Result<T> result) const {
    if (!result) {
      if (!failed())
        document->failure = std::move(result).error();
      return T();
    }
    if constexpr (!std::is_void_v<T>)
      return *std::move(result);
  }

  /// Of an object.
  JsonCursor member(std::string_view key) const;
  /// The member; none if it is missing or null, and after a failure.
  std::optional<JsonCursor> optional(std::string_view key) const;
  /// Of an array.
  JsonElements elements() const;

  std::string text() const;
  int64_t integer() const;
  bool boolean() const;
  /// A float or an integer.
  double number() const;

  std::string text(std::string_view key) const { return member(key).text(); }
  int64_t integer(std::string_view key) const { return member(key).integer(); }
  bool boolean(std::string_view key) const { return member(key).boolean(); }
  JsonElements array(std::string_view key) const;

  /// `fallback` if the member is missing or null.
  std::string text(std::string_view key, std::string_view fallback) const;
  int64_t integer(std::string_view key, int64_t fallback) const;
  bool boolean(std::string_view key, bool fallback) const;

private:
  friend class JsonDocument;
  friend class JsonElements;

  JsonCursor(JsonDocument &document, const Json &value) : document(&document), value(&value) {}
  void failWith(std::string_view what) const;
  void failWithType(std::string_view expected) const;

  JsonDocument *document;
  const Json *value;
};

/// The elements of an array. After a failure there are none, so a loop over them ends.
class TORCHERE_EXPORT JsonElements {
public:
  class Iterator {
  public:
    Iterator(const JsonElements &elements) : elements(&elements) {}
    JsonCursor operator*() const { return (*elements)[index]; }
    void operator++() { ++index; }
    bool operator==(std::default_sentinel_t) const { return index >= elements->size(); }

  private:
    const JsonElements *elements;
    size_t index = 0;
  };

  size_t size() const { return array.json().size(); }
  /// A null value beyond the end.
  JsonCursor operator[](size_t index) const;
  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

private:
  friend class JsonCursor;
  explicit JsonElements(JsonCursor array) : array(array) {}

  JsonCursor array; ///< at an array, or null
};

} // namespace torchere
