// Digest: a 256-bit hash, by which equal contents are found again.
#pragma once

#include "base/export.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace torchere {

/// Unkeyed BLAKE2b with a result of 32 bytes (RFC 7693). It is collision resistant, so it may identify
/// untrusted contents. About a gigabyte a second.
class TORCHERE_EXPORT Digest {
public:
  using Value = std::array<uint8_t, 32>;

  Digest();
  Digest &add(std::span<const std::byte> bytes);
  /// Adds the length and then the text, so that {"ab", "c"} and {"a", "bc"} differ.
  Digest &addField(std::string_view text);
  Digest &addField(uint64_t number);
  /// The digest of everything added; the hasher must not be used afterwards.
  Value finish();

private:
  static constexpr size_t blockSize = 128;
  void compress(const std::byte *block, bool isLast);

  std::array<uint64_t, 8> state;
  std::array<std::byte, blockSize> pending; ///< not compressed yet: whether a block is the last must be known
  size_t pendingSize = 0;
  uint64_t byteCount = 0; ///< of what was compressed
};

/// Two lower-case hexadecimal digits per byte.
TORCHERE_EXPORT std::string hexText(std::span<const uint8_t> bytes);

} // namespace torchere
