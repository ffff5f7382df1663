// The wire format of protocol buffers: a tag, which is the field's number and its kind, then the value.
#include "artifact/saved_model/wire_format.h"

namespace torchere::artifact::saved_model {

enum class WireType : uint32_t { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

static void appendTag(std::string &bytes, uint32_t field, WireType type) {
  appendVarint(bytes, (uint64_t(field) << 3) | static_cast<uint32_t>(type));
}

void appendVarint(std::string &bytes, uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

static void appendFixed(std::string &bytes, uint64_t number, int byteCount) {
  for (int index = 0; index < byteCount; ++index)
    bytes.push_back(static_cast<char>(number >> (8 * index)));
}

void appendFixed32(std::string &bytes, uint32_t number) {
  appendFixed(bytes, number, 4);
}

Message &Message::number(uint32_t field, int64_t value) {
  appendTag(content, field, WireType::Varint);
  appendVarint(content, static_cast<uint64_t>(value));
  return *this;
}

Message &Message::fixed32(uint32_t field, uint32_t value) {
  appendTag(content, field, WireType::Fixed32);
  appendFixed(content, value, 4);
  return *this;
}

Message &Message::fixed64(uint32_t field, uint64_t value) {
  appendTag(content, field, WireType::Fixed64);
  appendFixed(content, value, 8);
  return *this;
}

Message &Message::text(uint32_t field, std::string_view value) {
  appendTag(content, field, WireType::Length);
  appendVarint(content, value.size());
  content += value;
  return *this;
}

Message &Message::numbers(uint32_t field, const std::vector<int64_t> &values) {
  if (values.empty())
    return *this;
  std::string packed;
  for (int64_t value : values)
    appendVarint(packed, static_cast<uint64_t>(value));
  return text(field, packed);
}

Message &Message::entry(uint32_t field, std::string_view key, const Message &value) {
  return entry(field, key, value.content);
}

// A string and a message are written alike.
Message &Message::entry(uint32_t field, std::string_view key, std::string_view value) {
  return message(field, Message().text(1, key).text(2, value));
}

} // namespace torchere::artifact::saved_model
