// Message: a protocol buffer, written field by field in the order of the calls.
#pragma once

#include "base/export.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::artifact::saved_model {

/// Appends the number seven bits at a time, lowest first.
TORCHERE_EXPORT void appendVarint(std::string &bytes, uint64_t number);
/// Appends four bytes, lowest first.
TORCHERE_EXPORT void appendFixed32(std::string &bytes, uint32_t number);

/// The wire format has no names and no types: callers know the numbers and kinds of the fields. A field is
/// written even if it has its default value, which a oneof needs.
class TORCHERE_EXPORT Message {
public:
  /// int32, int64, enum and bool; negative numbers take ten bytes.
  Message &number(uint32_t field, int64_t value);
  Message &fixed32(uint32_t field, uint32_t value);
  Message &fixed64(uint32_t field, uint64_t value);
  /// string and bytes.
  Message &text(uint32_t field, std::string_view value);
  Message &message(uint32_t field, const Message &value) { return text(field, value.content); }
  /// A repeated field of numbers; an empty one is not written.
  Message &numbers(uint32_t field, const std::vector<int64_t> &values);
  /// An entry of a map from names to messages. Maps have no order: write them sorted.
  Message &entry(uint32_t field, std::string_view key, const Message &value);
  Message &entry(uint32_t field, std::string_view key, std::string_view value);

  const std::string &bytes() const { return content; }

private:
  std::string content;
};

} // namespace torchere::artifact::saved_model
