// Reads the numbers of bytecode.
#include "vhlo/byte_cursor.h"

#include <bit>

namespace torchere::vhlo {

uint8_t ByteCursor::byte() {
  if (rest.empty()) {
    fail();
    return 0;
  }
  auto value = static_cast<uint8_t>(rest.front());
  rest.remove_prefix(1);
  return value;
}

std::string_view ByteCursor::bytes(uint64_t size) {
  if (size > rest.size()) {
    fail();
    return {};
  }
  std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

uint64_t ByteCursor::varInt() {
  uint8_t first = byte();
  if (first & 1)
    return first >> 1;
  int more = first == 0 ? 8 : std::countr_zero(first);
  std::string_view tail = hasFailed ? std::string_view() : bytes(more);
  uint64_t value = 0;
  for (size_t index = tail.size(); index-- > 0;)
    value = value << 8 | static_cast<uint8_t>(tail[index]);
  if (first == 0)
    return value; // all 64 bits are in the tail
  return value << (7 - more) | first >> (more + 1);
}

int64_t ByteCursor::signedVarInt() {
  uint64_t value = varInt();
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

uint64_t ByteCursor::varIntWithFlag(bool &flag) {
  uint64_t value = varInt();
  flag = value & 1;
  return value >> 1;
}

size_t ByteCursor::count(size_t bytesEach) {
  uint64_t value = varInt();
  if (value > rest.size() / bytesEach) {
    fail();
    return 0;
  }
  return value;
}

std::string_view ByteCursor::terminatedString() {
  size_t end = rest.find('\0');
  if (end == std::string_view::npos) {
    fail();
    return {};
  }
  std::string_view text = bytes(end);
  byte();
  return text;
}

} // namespace torchere::vhlo
