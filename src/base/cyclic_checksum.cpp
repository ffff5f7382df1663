// CyclicChecksum: eight bytes a step, each looked up in a table of its own.
#include "base/cyclic_checksum.h"

#include <array>

namespace torchere {

using Table = std::array<uint32_t, 256>;

/// Table k holds the remainders of a byte that k further bytes follow.
template <uint32_t polynomial> static constexpr std::array<Table, 8> makeTables() {
  std::array<Table, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit)
      remainder = (remainder >> 1) ^ (remainder & 1 ? polynomial : 0);
    tables[0][byte] = remainder;
  }
  for (size_t k = 1; k < tables.size(); ++k)
    for (uint32_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xFF];
  return tables;
}

static uint32_t byteAt(const std::byte *data, size_t index) {
  return std::to_integer<uint32_t>(data[index]);
}

template <uint32_t polynomial>
CyclicChecksum<polynomial> &CyclicChecksum<polynomial>::add(std::span<const std::byte> bytes) {
  static constexpr std::array<Table, 8> tables = makeTables<polynomial>();
  const std::byte *data = bytes.data();
  size_t size = bytes.size();
  for (; size >= 8; data += 8, size -= 8)
    state = tables[7][(state ^ byteAt(data, 0)) & 0xFF] ^ tables[6][((state >> 8) ^ byteAt(data, 1)) & 0xFF] ^
            tables[5][((state >> 16) ^ byteAt(data, 2)) & 0xFF] ^ tables[4][(state >> 24) ^ byteAt(data, 3)] ^
            tables[3][byteAt(data, 4)] ^ tables[2][byteAt(data, 5)] ^ tables[1][byteAt(data, 6)] ^
            tables[0][byteAt(data, 7)];
  for (; size > 0; ++data, --size)
    state = (state >> 8) ^ tables[0][(state ^ byteAt(data, 0)) & 0xFF];
  return *this;
}

template class CyclicChecksum<0xEDB88320>;
template class CyclicChecksum<0x82F63B78>;

} // namespace torchere
