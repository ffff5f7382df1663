// ByteCursor: reads bytecode's numbers from untrusted bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace torchere::vhlo {

/// A position in some bytes. A read past the end fails, and the failure is sticky: later reads return 0, and
/// the caller checks once, at the end of a record.
class ByteCursor {
public:
  explicit ByteCursor(std::string_view bytes) : rest(bytes) {}

  bool failed() const { return hasFailed; }
  bool atEnd() const { return rest.empty(); }
  size_t remaining() const { return rest.size(); }
  std::string_view left() const { return rest; }

  uint8_t byte();
  /// 7 bits per byte; the trailing zeros of the first byte are the number of further bytes.
  uint64_t varInt();
  /// The sign is the lowest bit.
  int64_t signedVarInt();
  /// A number whose lowest bit is a flag.
  uint64_t varIntWithFlag(bool &flag);
  /// A count of elements of at least `bytesEach` bytes each. It fails beyond what is left, so a loop over
  /// them is bounded by the bytes.
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
