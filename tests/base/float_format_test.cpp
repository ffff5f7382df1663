// Small floats: every encoding survives the way there and back, and rounding goes to the nearest.
#include "base/float_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace torchere {
namespace {

struct Named {
  const char *name;
  FloatFormat format;
  double largest;
  double smallest;
};

// Extremes: IEEE 754, the OCP specifications of 8-bit and of microscaling floats, LLVM's APFloat for FNUZ
// forms.
const Named formats[] = {
    {"float16", float16, 65504, 0x1p-24},
    {"bfloat16", bfloat16, 0x1.FEp127, 0x1p-133},
    {"float8E5M2", float8E5M2, 57344, 0x1p-16},
    {"float8E5M2FNUZ", float8E5M2FNUZ, 57344, 0x1p-17},
    {"float8E4M3", float8E4M3, 240, 0x1p-9},
    {"float8E4M3FN", float8E4M3FN, 448, 0x1p-9},
    {"float8E4M3FNUZ", float8E4M3FNUZ, 240, 0x1p-10},
    {"float8E4M3B11FNUZ", float8E4M3B11FNUZ, 30, 0x1p-13},
    {"float8E3M4", float8E3M4, 15.5, 0x1p-6},
    {"float8E8M0FNU", float8E8M0FNU, 0x1p127, 0x1p-127},
    {"float6E3M2FN", float6E3M2FN, 28, 0.0625},
    {"float6E2M3FN", float6E2M3FN, 7.5, 0.125},
    {"float4E2M1FN", float4E2M1FN, 6, 0.5},
};

uint32_t encodings(const FloatFormat &format) {
  bool hasSign = format.specials != FloatSpecials::PowerOnly;
  return 1u << (format.exponentBits + format.mantissaBits + (hasSign ? 1 : 0));
}

TEST(FloatFormat, EveryNumberSurvives) {
  for (const Named &row : formats)
    for (uint32_t bits = 0; bits < encodings(row.format); ++bits) {
      double value = decodeFloat(bits, row.format);
      ASSERT_EQ(encodeFloat(value, row.format), bits) << row.name; // NaN with its sign and payload
    }
}

TEST(FloatFormat, NanIsAsHardwareWidensIt) {
  EXPECT_EQ(std::bit_cast<uint64_t>(decodeFloat(0x7E01, float16)), 0x7FF8040000000000u);
  EXPECT_EQ(std::bit_cast<uint64_t>(decodeFloat(0xFFC1, bfloat16)), 0xFFF8200000000000u);
  EXPECT_EQ(std::bit_cast<uint64_t>(decodeFloat(0xFFC00001, float32)), 0xFFF8000020000000u);
  // A payload that has no room leaves a NaN.
  EXPECT_EQ(encodeFloat(std::bit_cast<double>(uint64_t(0x7FF0000000000001)), float16), 0x7E00u);
}

TEST(FloatFormat, HasThePublishedExtremes) {
  for (const Named &row : formats) {
    double largest = 0, smallest = HUGE_VAL;
    for (uint32_t bits = 0; bits < encodings(row.format); ++bits) {
      double value = decodeFloat(bits, row.format);
      if (std::isfinite(value))
        largest = std::max(largest, value);
      if (value > 0)
        smallest = std::min(smallest, value);
    }
    EXPECT_EQ(largest, row.largest) << row.name;
    EXPECT_EQ(smallest, row.smallest) << row.name;
  }
}

/// Between two neighbours, what is nearer wins, and in the middle the even one.
TEST(FloatFormat, RoundsToTheNearestEven) {
  for (const Named &row : formats) {
    if (row.format.specials == FloatSpecials::PowerOnly)
      continue;
    for (uint32_t bits = 0; decodeFloat(bits, row.format) < row.largest; ++bits) {
      double low = decodeFloat(bits, row.format), high = decodeFloat(bits + 1, row.format);
      double middle = low + (high - low) / 2;
      ASSERT_EQ(encodeFloat(middle, row.format), bits % 2 == 0 ? bits : bits + 1) << row.name << " " << low;
      ASSERT_EQ(encodeFloat(std::nextafter(middle, 0), row.format), bits) << row.name;
      ASSERT_EQ(encodeFloat(std::nextafter(middle, HUGE_VAL), row.format), bits + 1) << row.name;
    }
  }
}

TEST(FloatFormat, GoesBeyondTheLargestAsTheFormatSays) {
  EXPECT_EQ(encodeFloat(65520, float16), 0x7C00u);
  EXPECT_EQ(encodeFloat(65519, float16), 0x7BFFu);
  EXPECT_EQ(encodeFloat(-1e30, float16), 0xFC00u);
  EXPECT_EQ(encodeFloat(464, float8E4M3FN), 0x7Eu); // the tie is with the even 448
  EXPECT_EQ(encodeFloat(465, float8E4M3FN), 0x7Fu);
  EXPECT_EQ(encodeFloat(-HUGE_VAL, float8E4M3FN), 0xFFu);
  EXPECT_EQ(encodeFloat(1e30, float8E4M3FNUZ), 0x80u);
  EXPECT_EQ(encodeFloat(-0.0, float8E4M3FNUZ), 0u);
  EXPECT_EQ(encodeFloat(-1e-30, float8E5M2FNUZ), 0u);
  EXPECT_EQ(encodeFloat(1e30, float4E2M1FN), 7u);
  EXPECT_EQ(encodeFloat(-HUGE_VAL, float6E3M2FN), 0x3Fu);
  EXPECT_EQ(encodeFloat(std::nan(""), float4E2M1FN), 8u);
}

TEST(FloatFormat, PowersOfTwo) {
  EXPECT_EQ(encodeFloat(3, float8E8M0FNU), 129u); // as near to 2 as to 4
  EXPECT_EQ(encodeFloat(2.99, float8E8M0FNU), 128u);
  EXPECT_EQ(encodeFloat(0, float8E8M0FNU), 255u);
  EXPECT_EQ(encodeFloat(-1, float8E8M0FNU), 255u);
  EXPECT_EQ(encodeFloat(1e-300, float8E8M0FNU), 0u);
}

} // namespace
} // namespace torchere
