// Crc32 against the values of an independent implementation (Python's zlib.crc32), Crc32c against RFC 3720's.
#include "base/cyclic_checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace torchere {

static uint32_t crcOf(const std::string &text, size_t pieceSize = 1000) {
  Crc32 crc;
  for (size_t begin = 0; begin < text.size(); begin += pieceSize)
    crc.add(std::as_bytes(std::span(text)).subspan(begin, std::min(pieceSize, text.size() - begin)));
  return crc.value();
}

TEST(Crc32, GivesTheKnownValues) {
  EXPECT_EQ(crcOf(""), 0u);
  EXPECT_EQ(crcOf("123456789"), 0xcbf43926u);
  EXPECT_EQ(crcOf("The quick brown fox jumps over the lazy dog"), 0x414fa339u);
  EXPECT_EQ(crcOf(std::string(1000, '\xff')), 0xe0533230u);
}

TEST(Crc32, IsTheSamePieceByPiece) {
  std::string text = "The quick brown fox jumps over the lazy dog";
  for (size_t piece = 1; piece < text.size(); ++piece)
    EXPECT_EQ(crcOf(text, piece), 0x414fa339u) << piece;
}

TEST(Crc32c, GivesThePublishedValues) {
  std::string rising;
  for (char value = 0; value < 32; ++value)
    rising.push_back(value);
  EXPECT_EQ(Crc32c().value(), 0u);
  EXPECT_EQ(Crc32c().add("123456789").value(), 0xe3069283u);
  EXPECT_EQ(Crc32c().add(std::string(32, '\0')).value(), 0x8a9136aau); // appendix B.4
  EXPECT_EQ(Crc32c().add(std::string(32, '\xff')).value(), 0x62a8ab43u);
  EXPECT_EQ(Crc32c().add(rising).value(), 0x46dd794eu);
}

TEST(Crc32c, IsTheSamePieceByPiece) {
  std::string text(1000, ' ');
  for (size_t index = 0; index < text.size(); ++index)
    text[index] = static_cast<char>(index * 7);
  uint32_t whole = Crc32c().add(text).value();
  for (size_t cut = 0; cut <= text.size(); cut += 13)
    EXPECT_EQ(Crc32c().add(text.substr(0, cut)).add(text.substr(cut)).value(), whole);
}

} // namespace torchere
