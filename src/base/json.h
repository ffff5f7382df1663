// JSON: bounded parsing with the place of errors, and printing. base/json_cursor.h reads parsed documents.
#pragma once

#include "base/error.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

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

} // namespace torchere
