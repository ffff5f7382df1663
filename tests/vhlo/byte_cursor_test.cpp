// Numbers of bytecode, and reads past the end.
#include "vhlo/byte_cursor.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace torchere::vhlo {

using namespace std::string_literals;

static uint64_t varIntOf(const std::string &bytes) {
  ByteCursor cursor(bytes);
  uint64_t value = cursor.varInt();
  EXPECT_FALSE(cursor.failed());
  EXPECT_TRUE(cursor.atEnd());
  return value;
}

TEST(ByteCursor, ReadsNumbersOfEveryLength) {
  EXPECT_EQ(varIntOf("\x01"), 0u);
  EXPECT_EQ(varIntOf("\xff"), 127u);
  EXPECT_EQ(varIntOf("\x02\x02"), 128u);
  EXPECT_EQ(varIntOf("\xfe\xff"), 16383u);
  EXPECT_EQ(varIntOf("\x04\x00\x02"s), 16384u);
  EXPECT_EQ(varIntOf("\x80\x01\x00\x00\x00\x00\x00\x00"s), 1u);
  EXPECT_EQ(varIntOf("\x00\xff\xff\xff\xff\xff\xff\xff\xff"s), std::numeric_limits<uint64_t>::max());
}

TEST(ByteCursor, ReadsSignedNumbers) {
  EXPECT_EQ(ByteCursor("\x01").signedVarInt(), 0);
  EXPECT_EQ(ByteCursor("\x03").signedVarInt(), -1);
  EXPECT_EQ(ByteCursor("\x05").signedVarInt(), 1);
  std::string least("\x00\xff\xff\xff\xff\xff\xff\xff\xff"s);
  EXPECT_EQ(ByteCursor(least).signedVarInt(), std::numeric_limits<int64_t>::min());
}

TEST(ByteCursor, ReadsPastTheEndFailAndStayFailed) {
  for (const std::string &bytes : {""s, "\x02"s, "\x00\x01"s}) {
    ByteCursor cursor(bytes);
    EXPECT_EQ(cursor.varInt(), 0u);
    EXPECT_TRUE(cursor.failed());
    EXPECT_EQ(cursor.byte(), 0);
    EXPECT_TRUE(cursor.atEnd());
  }
  ByteCursor cursor("abc");
  EXPECT_EQ(cursor.bytes(4), "");
  EXPECT_TRUE(cursor.failed());
  EXPECT_EQ(ByteCursor("no end").terminatedString(), "");
}

TEST(ByteCursor, CountsAreBoundedByTheBytes) {
  ByteCursor fits("\x05xx");
  EXPECT_EQ(fits.count(), 2u);
  ByteCursor cursor("\x07xx");
  EXPECT_EQ(cursor.count(), 0u);
  EXPECT_TRUE(cursor.failed());
  ByteCursor pairs("\x05xxx");
  EXPECT_EQ(pairs.count(2), 0u);
  EXPECT_TRUE(pairs.failed());
}

} // namespace torchere::vhlo
