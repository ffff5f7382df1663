// CRC-32C by eight tables, which take eight bytes a step.
#include "artifact/saved_model/checksum.h"

#include <array>

namespace torchere::artifact::saved_model {

static constexpr uint32_t polynomial = 0x82f63b78; // reversed
static constexpr uint32_t maskOffset = 0xa282ead8;
static constexpr size_t step = 8;

using Table = std::array<uint32_t, 256>;

/// tables[n][byte] is the state after `byte` and n zero bytes.
static constexpr std::array<Table, step> makeTables() {
  std::array<Table, step> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; ++bit)
      state = (state >> 1) ^ ((state & 1) ? polynomial : 0);
    tables[0][byte] = state;
  }
  for (size_t zeros = 1; zeros < step; ++zeros)
    for (size_t byte = 0; byte < 256; ++byte) {
      uint32_t before = tables[zeros - 1][byte];
      tables[zeros][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  return tables;
}

static constexpr std::array<Table, step> tables = makeTables();

static uint32_t littleEndian(const std::byte *bytes) {
  uint32_t value = 0;
  for (unsigned index = 0; index < 4; ++index)
    value |= std::to_integer<uint32_t>(bytes[index]) << (8 * index);
  return value;
}

Crc32c &Crc32c::add(std::span<const std::byte> bytes) {
  const std::byte *place = bytes.data();
  size_t left = bytes.size();
  for (; left >= step; left -= step, place += step) {
    uint32_t low = state ^ littleEndian(place), high = littleEndian(place + 4);
    state = tables[7][low & 0xff] ^ tables[6][(low >> 8) & 0xff] ^ tables[5][(low >> 16) & 0xff] ^
            tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][(high >> 8) & 0xff] ^
            tables[1][(high >> 16) & 0xff] ^ tables[0][high >> 24];
  }
  for (; left > 0; --left, ++place)
    state = (state >> 8) ^ tables[0][(state ^ std::to_integer<uint32_t>(*place)) & 0xff];
  return *this;
}

uint32_t Crc32c::masked() const {
  uint32_t crc = value();
  return ((crc >> 15) | (crc << 17)) + maskOffset;
}

} // namespace torchere::artifact::saved_model
