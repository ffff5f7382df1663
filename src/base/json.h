// JSON: bounded parsing with the place of errors, and typed access that names the key that is wrong.
#pragma once

#include "base/error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchere {

/// Keys are sorted: lookups are fast whatever a file holds.
using Json = nlohmann::json;
/// Keys keep the order in which they were added; for writing.
using OrderedJson = nlohmann::ordered_json;

/// How deep arrays and objects of a file may nest.
inline constexpr size_t jsonDepthLimit = 200;

/// Parses strict JSON (RFC 8259): no comments, no NaN, no second key of one name. `subject` (a file) starts
/// the error, which gives the byte offset.
TORCHERE_EXPORT Result<Json> parseJson(std::string_view text, std::string_view subject,
                                       size_t depthLimit = jsonDepthLimit);

/// The text of a value: a line for each element down to `lineDepth` levels, deeper ones on one line. Strings
/// that are not UTF-8 get U+FFFD in place of the wrong bytes.
TORCHERE_EXPORT std::string printJson(const OrderedJson &value, size_t lineDepth);

/// A value of a parsed document together with its place, for getters that can say what is wrong where:
/// `[forward.meta] input_signature[2].dtype: got a number, expected a string`. Refers to the document.
class TORCHERE_EXPORT JsonCursor {
public:
  JsonCursor(const Json &document, std::string subject) : value(&document), subject(std::move(subject)) {}

  const Json &json() const { return *value; }
  bool isNull() const { return value->is_null(); }

  Result<JsonCursor> member(std::string_view key) const;
  /// The member, unless it is missing or null.
  Result<std::optional<JsonCursor>> optionalMember(std::string_view key) const;
  Result<std::vector<JsonCursor>> elements() const;
  /// Key and value of each member, sorted by key.
  Result<std::vector<std::pair<std::string, JsonCursor>>> members() const;

  Result<std::string> asString() const;
  Result<int64_t> asInteger() const;
  Result<bool> asBool() const;
  /// An integer counts as a float.
  Result<double> asFloat() const;

  Result<std::string> string(std::string_view key) const;
  Result<int64_t> integer(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  Result<std::vector<JsonCursor>> array(std::string_view key) const;

  /// `[subject] place: what`.
  tl::unexpected<Error> invalid(std::string_view what) const;
  /// "input_signature[2].dtype"; empty for the document.
  const std::string &place() const { return path; }

private:
  JsonCursor(const Json &value, std::string subject, std::string path)
      : value(&value), subject(std::move(subject)), path(std::move(path)) {}
  tl::unexpected<Error> wrongType(std::string_view expected) const;
  JsonCursor child(const Json &value, std::string_view key) const;

  const Json *value;
  std::string subject;
  std::string path;
};

} // namespace torchere
