// Digest against the values of an independent implementation (Python's hashlib.blake2b, digest_size=32).
#include "base/digest.h"

#include <gtest/gtest.h>

namespace torchere {
namespace {

std::string digestOf(std::string_view text, size_t pieceSize = 1000) {
  Digest digest;
  while (!text.empty()) {
    std::string_view piece = text.substr(0, pieceSize);
    digest.add(std::as_bytes(std::span(piece.data(), piece.size())));
    text.remove_prefix(piece.size());
  }
  return hexText(digest.finish());
}

std::string counting(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i)
    text[i] = static_cast<char>(i % 251);
  return text;
}

TEST(Digest, KnownValues) {
  EXPECT_EQ(digestOf(""), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(digestOf("abc"), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(digestOf(counting(127)), "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72");
  EXPECT_EQ(digestOf(counting(128)), "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1");
  EXPECT_EQ(digestOf(counting(129)), "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9");
  EXPECT_EQ(digestOf(counting(255)), "d9ef0fc521b4266d16df662bec231bc2ec3989e7adeaf63169c295dc239dbbea");
  EXPECT_EQ(digestOf(counting(256)), "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24");
  EXPECT_EQ(digestOf(counting(257)), "227e15ed64ee8e93eb7bc53828f76eed974f2c4ab1408c3d08f212b7f8d69904");
  EXPECT_EQ(digestOf(counting(1000)), "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331");
}

TEST(Digest, PiecesDoNotMatter) {
  std::string text = counting(1000);
  for (size_t size : {1, 7, 127, 128, 129, 256, 999})
    EXPECT_EQ(digestOf(text, size), digestOf(text)) << size;
}

TEST(Digest, FieldsAreToldApart) {
  EXPECT_NE(Digest().addField("ab").addField("c").finish(), Digest().addField("a").addField("bc").finish());
  EXPECT_NE(Digest().addField("").finish(), Digest().finish());
  EXPECT_NE(Digest().addField(uint64_t{1}).finish(), Digest().addField(uint64_t{256}).finish());
}

TEST(Digest, HexTextHasTwoDigitsAByte) {
  EXPECT_EQ(hexText(std::array<uint8_t, 4>{0, 10, 128, 255}), "000a80ff");
  EXPECT_EQ(hexText({}), "");
}

} // namespace
} // namespace torchere
