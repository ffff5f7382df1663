// The records of a zip file (PKWARE's APPNOTE 6.3.10): their signatures, sizes and little-endian fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace torchere::artifact::zip {

inline constexpr uint32_t localSignature = 0x04034b50;
inline constexpr uint32_t centralSignature = 0x02014b50;
inline constexpr uint32_t endSignature = 0x06054b50;
inline constexpr uint32_t end64Signature = 0x06064b50;
inline constexpr uint32_t locator64Signature = 0x07064b50;

inline constexpr size_t localSize = 30; ///< of the header, without the name and the extra field
inline constexpr size_t centralSize = 46;
inline constexpr size_t endSize = 22;
inline constexpr size_t end64Size = 56;
inline constexpr size_t locator64Size = 20;

inline constexpr uint16_t stored = 0; ///< the method of entries that are not compressed
inline constexpr uint16_t isEncrypted = 1 << 0;
inline constexpr uint16_t hasDescriptor = 1 << 3; ///< sizes and checksum follow the data
inline constexpr uint16_t isMasked = 1 << 13;     ///< parts of the headers are encrypted
inline constexpr uint16_t isUtf8 = 1 << 11;

inline constexpr uint16_t zip64Extra = 0x0001;     ///< 64-bit sizes, and the offset of the local header
inline constexpr uint16_t alignmentExtra = 0xd935; ///< the alignment of the data, and padding
inline constexpr uint16_t max16 = 0xFFFF;          ///< the value is in a 64-bit field
inline constexpr uint32_t max32 = 0xFFFFFFFF;      ///< the same
inline constexpr size_t dataAlignment = 64;        ///< of the data of the entries that we write

/// The bytes of a record, written field by field.
class Record {
public:
  template <class Number> Record &add(Number number) {
    for (size_t byte = 0; byte < sizeof(Number); ++byte)
      bytes.push_back(static_cast<char>(static_cast<uint64_t>(number) >> (8 * byte)));
    return *this;
  }
  Record &add(const std::string &text) {
    bytes += text;
    return *this;
  }
  const std::string &text() const { return bytes; }

private:
  std::string bytes;
};

/// The number at an offset, which must lie within the bytes.
template <class Number> Number numberAt(std::span<const std::byte> bytes, size_t offset) {
  uint64_t number = 0;
  for (size_t byte = 0; byte < sizeof(Number); ++byte)
    number |= std::to_integer<uint64_t>(bytes[offset + byte]) << (8 * byte);
  return static_cast<Number>(number);
}

} // namespace torchere::artifact::zip
