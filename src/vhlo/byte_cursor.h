// ByteCursor: reads bytecode's numbers from bytes that may be anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace torchere::vhlo {

/// A place in some bytes. A read past the end fails, and so does every read after it: reads return 0 then,
/// and whoever reads a record checks once, at its end.
class ByteCursor {
public:
  explicit ByteCursor(std::string_view bytes) : rest(bytes) {}

  bool failed() const { return hasFailed; }
  bool atEnd() const { return rest.empty(); }
  size_t remaining() const { return rest.size(); }
  std::string_view left() const { return rest; }

  uint8_t byte();
  /// 7 bits a byte; the low zeros of the first byte are the number of further bytes.
  uint64_t varInt();
  /// The sign is the lowest bit.
  int64_t signedVarInt();
  /// A number whose lowest bit is a flag.
  uint64_t varIntWithFlag(bool &flag);
  /// A number of things to follow that take at least `bytesEach` each, so that a loop over them is in
  /// proportion to the bytes.
  size_t count(size_t bytesEach = 1);
  std::string_view bytes(uint64_t size);
  /// Up to a NUL, which is skipped.
  std::string_view terminatedString();
  void fail() {
    hasFailed = true;
    rest = {};
  }

private:
  std::string_view rest;
  bool hasFailed = false;
};

} // namespace torchere::vhlo
