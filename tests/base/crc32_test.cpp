// Crc32 against the values of an independent implementation (Python's zlib.crc32).
#include "base/crc32.h"

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

} // namespace torchere
