// Elements: encodings, conversion and arithmetic in every type, where the specification and hardware part
// ways.
#include "evaluation/element.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace torchere::evaluation {
namespace {

Element integer(ElementType type, int64_t value) {
  return Element::integer(type, static_cast<uint64_t>(value));
}

const ElementType everyType[] = {
    ElementType::Bool,   ElementType::I2,        ElementType::I4,         ElementType::I8,
    ElementType::I16,    ElementType::I32,       ElementType::I64,        ElementType::U2,
    ElementType::U4,     ElementType::U8,        ElementType::U16,        ElementType::U32,
    ElementType::U64,    ElementType::F4E2M1FN,  ElementType::F6E2M3FN,   ElementType::F6E3M2FN,
    ElementType::F8E3M4, ElementType::F8E4M3,    ElementType::F8E4M3FN,   ElementType::F8E4M3FNUZ,
    ElementType::F8E5M2, ElementType::BF16,      ElementType::F8E5M2FNUZ, ElementType::F8E4M3B11FNUZ,
    ElementType::F16,    ElementType::F32,       ElementType::F64,        ElementType::C64,
    ElementType::C128,   ElementType::F8E8M0FNU,
};

TEST(Element, EveryTypeIsStoredAndNamed) {
  for (ElementType type : everyType) {
    EXPECT_EQ(elementTypeInfo(type).type, type);
    EXPECT_EQ(elementTypeFromName(elementTypeInfo(type).name), type);
    Element one = convert(integer(ElementType::I64, 1), type);
    std::array<std::byte, 16> bytes{};
    one.store(bytes.data());
    EXPECT_TRUE(isSame(Element::load(type, bytes.data()), one)) << elementTypeInfo(type).name;
    EXPECT_TRUE(isSame(convert(one, ElementType::I64), integer(ElementType::I64, 1)));
  }
}

TEST(Element, IntegersWrap) {
  EXPECT_EQ(integer(ElementType::I4, 8).asSigned(), -8);
  EXPECT_EQ(integer(ElementType::U4, -1).asUnsigned(), 15u);
  EXPECT_EQ(integer(ElementType::I2, 3).asSigned(), -1);
  EXPECT_EQ(add(integer(ElementType::I8, 127), integer(ElementType::I8, 1)).asSigned(), -128);
  EXPECT_EQ(multiply(integer(ElementType::U64, -1), integer(ElementType::U64, 2)).asUnsigned(),
            ~uint64_t(0) - 1);
  EXPECT_EQ(negate(integer(ElementType::I64, INT64_MIN)).asSigned(), INT64_MIN);
}

TEST(Element, DivisionByZeroAndOverflow) {
  for (ElementType type : {ElementType::I8, ElementType::I32, ElementType::I64}) {
    int64_t smallest = -(int64_t(1) << (elementTypeInfo(type).bits - 2)) * 2;
    EXPECT_EQ(divide(integer(type, 5), integer(type, 0)).asSigned(), -1);
    EXPECT_EQ(divide(integer(type, smallest), integer(type, -1)).asSigned(), smallest);
    EXPECT_EQ(remainder(integer(type, 5), integer(type, 0)).asSigned(), 5);
    EXPECT_EQ(remainder(integer(type, smallest), integer(type, -1)).asSigned(), 0);
  }
  EXPECT_EQ(divide(integer(ElementType::U8, 5), integer(ElementType::U8, 0)).asUnsigned(), 255u);
}

TEST(Element, FloatsRoundOnce) {
  // 1 + 2^-24 + 2^-47 is above the middle between 1 and the next float32, which a sum in doubles still sees.
  Element sum = add(Element::number(ElementType::F32, 1), Element::number(ElementType::F32, 0x1.000002p-24));
  EXPECT_EQ(sum.asDouble(), 1 + 0x1p-23);
  EXPECT_EQ(Element::number(ElementType::F32, 1e300).asDouble(), HUGE_VAL);
  EXPECT_EQ(Element::number(ElementType::BF16, 1.00390625).asDouble(), 1.0);
}

/// Rounding to a double first would make a tie of these, and lose the last bit.
TEST(Element, IntegersBecomeFloatsInOneRounding) {
  int64_t justAboveTie = (int64_t(1) << 62) + (int64_t(1) << 38) + 1;
  EXPECT_EQ(convert(integer(ElementType::I64, justAboveTie), ElementType::F32).asDouble(),
            static_cast<float>(justAboveTie));
  EXPECT_EQ(convert(integer(ElementType::I64, -justAboveTie), ElementType::F32).asDouble(),
            static_cast<float>(-justAboveTie));
  EXPECT_EQ(convert(integer(ElementType::U64, -1), ElementType::F64).asDouble(), 0x1p64);
}

TEST(Element, FloatsBecomeIntegersWithinLimits) {
  auto from = [](double value, ElementType type) {
    return convert(Element::number(ElementType::F64, value), type);
  };
  EXPECT_EQ(from(-1.9, ElementType::I32).asSigned(), -1);
  EXPECT_EQ(from(1e10, ElementType::I32).asSigned(), INT32_MAX);
  EXPECT_EQ(from(-1e10, ElementType::I32).asSigned(), INT32_MIN);
  EXPECT_EQ(from(HUGE_VAL, ElementType::I64).asSigned(), INT64_MAX);
  EXPECT_EQ(from(-1, ElementType::U8).asUnsigned(), 0u);
  EXPECT_EQ(from(0x1p64, ElementType::U64).asUnsigned(), ~uint64_t(0));
  EXPECT_EQ(from(std::nan(""), ElementType::I16).asSigned(), 0);
  EXPECT_TRUE(from(std::nan(""), ElementType::Bool).asBool());
  EXPECT_FALSE(from(-0.0, ElementType::Bool).asBool());
}

TEST(Element, NanWinsInMaximumAndMinimum) {
  Element nan = Element::number(ElementType::F32, std::nan("")), one = Element::number(ElementType::F32, 1);
  Element zero = Element::number(ElementType::F32, 0.0), minus = Element::number(ElementType::F32, -0.0);
  for (auto function : {maximum, minimum}) {
    EXPECT_TRUE(std::isnan(function(nan, one).asDouble()));
    EXPECT_TRUE(std::isnan(function(one, nan).asDouble()));
  }
  EXPECT_TRUE(isSame(maximum(minus, zero), zero));
  EXPECT_TRUE(isSame(minimum(zero, minus), minus));
  EXPECT_FALSE(isSame(minus, zero));
}

uint64_t encoding(const Element &element) {
  uint64_t bits = 0;
  element.store(reinterpret_cast<std::byte *>(&bits));
  return bits;
}

Element encoded(ElementType type, uint64_t bits) {
  return Element::load(type, reinterpret_cast<const std::byte *>(&bits));
}

TEST(Element, EveryNanIsStoredAsItWasLoaded) {
  for (uint64_t bits : {0x7F800001u, 0x7FC00000u, 0xFFC12345u, 0xFFBFFFFFu})
    EXPECT_EQ(encoding(encoded(ElementType::F32, bits)), bits);
  for (uint64_t bits : {0x7C01u, 0xFE00u, 0xFDFFu})
    EXPECT_EQ(encoding(encoded(ElementType::F16, bits)), bits);
  EXPECT_EQ(encoding(encoded(ElementType::F8E4M3FN, 0xFF)), 0xFFu);
}

/// Processors differ here: x86 makes the NaN of inf - inf negative, ARM positive.
TEST(Element, NanIsThatOfAnOperandOrThePositiveOne) {
  Element infinity = Element::number(ElementType::F32, HUGE_VAL);
  EXPECT_EQ(encoding(subtract(infinity, infinity)), 0x7FC00000u);
  EXPECT_EQ(encoding(sqrt(negate(infinity))), 0x7FC00000u);
  Element first = encoded(ElementType::F32, 0xFF800001), second = encoded(ElementType::F32, 0x7FC00002);
  for (auto function : {add, subtract, multiply, divide, remainder, power, atan2, maximum, minimum}) {
    EXPECT_EQ(encoding(function(first, second)), 0xFFC00001u); // made quiet
    EXPECT_EQ(encoding(function(second, first)), 0x7FC00002u);
    EXPECT_EQ(encoding(function(infinity, second)), 0x7FC00002u);
  }
  EXPECT_EQ(encoding(exponential(first)), 0xFFC00001u);
  EXPECT_EQ(encoding(convert(first, ElementType::BF16)), 0xFFC0u);
  EXPECT_EQ(encoding(negate(first)), 0x7F800001u); // moves a bit, computes nothing
  EXPECT_EQ(encoding(abs(first)), 0x7F800001u);
  EXPECT_EQ(encoding(sign(first)), 0xFF800001u);
}

TEST(Element, CasesThatTheSpecificationLeavesOpen) {
  Element five = integer(ElementType::I8, 5), zero = integer(ElementType::I8, 0);
  EXPECT_TRUE(isQuotientDefined(zero, five));
  EXPECT_FALSE(isQuotientDefined(five, zero));
  EXPECT_TRUE(isQuotientDefined(Element::number(ElementType::F32, 5), Element::number(ElementType::F32, 0)));
  EXPECT_TRUE(isPowerDefined(five, zero));
  EXPECT_FALSE(isPowerDefined(five, integer(ElementType::I8, -1)));
  EXPECT_TRUE(isPowerDefined(integer(ElementType::U8, 5), integer(ElementType::U8, 255)));
  auto converts = [](double value, ElementType type) {
    return isConversionDefined(Element::number(ElementType::F64, value), type);
  };
  EXPECT_TRUE(converts(127.9, ElementType::I8));
  EXPECT_FALSE(converts(128, ElementType::I8));
  EXPECT_TRUE(converts(-128.9, ElementType::I8));
  EXPECT_FALSE(converts(-129, ElementType::I8));
  EXPECT_TRUE(converts(-0.9, ElementType::U64));
  EXPECT_FALSE(converts(-1, ElementType::U64));
  EXPECT_FALSE(converts(0x1p64, ElementType::U64));
  EXPECT_FALSE(converts(std::nan(""), ElementType::I64));
  EXPECT_TRUE(converts(std::nan(""), ElementType::Bool));
  EXPECT_TRUE(converts(1e300, ElementType::F16));
  EXPECT_TRUE(isConversionDefined(integer(ElementType::I64, -1), ElementType::U8));
}

TEST(Element, ShiftsBeyondTheWidth) {
  Element minusOne = integer(ElementType::I8, -1);
  for (int64_t shift : {8, 100, -1}) {
    EXPECT_EQ(shiftLeft(minusOne, integer(ElementType::I8, shift)).asSigned(), 0);
    EXPECT_EQ(shiftRightLogical(minusOne, integer(ElementType::I8, shift)).asSigned(), 0);
    EXPECT_EQ(shiftRightArithmetic(minusOne, integer(ElementType::I8, shift)).asSigned(), -1);
  }
  EXPECT_EQ(shiftRightLogical(minusOne, integer(ElementType::I8, 4)).asSigned(), 15);
  EXPECT_EQ(shiftRightArithmetic(integer(ElementType::U8, 128), integer(ElementType::U8, 7)).asUnsigned(),
            255u);
}

TEST(Element, ReducedPrecisionOverflowsAndLosesDigits) {
  auto reduce = [](double value, int exponentBits, int mantissaBits) {
    return reducePrecision(Element::number(ElementType::F32, value), exponentBits, mantissaBits).asDouble();
  };
  EXPECT_EQ(reduce(65519, 5, 10), 65504);
  EXPECT_EQ(reduce(65520, 5, 10), HUGE_VAL);
  EXPECT_EQ(reduce(-1e30, 5, 10), -HUGE_VAL);
  EXPECT_EQ(reduce(0x1p-14, 5, 10), 0x1p-14);
  EXPECT_EQ(reduce(0x1p-15, 5, 10), 0); // below the smallest normal number
  EXPECT_EQ(reduce(1 + 0x1p-11, 5, 10), 1);
  EXPECT_EQ(reduce(1 + 0x1.8p-10, 5, 10), 1 + 0x1p-9);
  EXPECT_EQ(reduce(3.5, 8, 0), 4);
  EXPECT_TRUE(std::isnan(reduce(std::nan(""), 5, 10)));
}

TEST(Element, OrdersTotally) {
  double order[] = {-std::nan(""), -HUGE_VAL, -1, -0.0, 0.0, 1, HUGE_VAL, std::nan("")};
  for (size_t left = 0; left < std::size(order); ++left)
    for (size_t right = 0; right < std::size(order); ++right)
      EXPECT_EQ(isTotallyLess(order[left], order[right]), left < right) << left << " " << right;
}

TEST(Element, SmallComplexArgumentsKeepTheirDigits) {
  Element small = Element::complex(ElementType::C128, {1e-10, 1e-10});
  EXPECT_NEAR(exponentialMinusOne(small).asComplex().real(), 1e-10, 1e-24);
  EXPECT_NEAR(logPlusOne(small).asComplex().real(), 1e-10, 1e-24);
  EXPECT_NEAR(logPlusOne(small).asComplex().imag(), 1e-10 - 1e-20, 1e-24);
}

TEST(Element, HasAText) {
  EXPECT_EQ(integer(ElementType::I8, -3).text(), "-3");
  EXPECT_EQ(integer(ElementType::U64, -1).text(), "18446744073709551615");
  EXPECT_EQ(integer(ElementType::Bool, 1).text(), "true");
  EXPECT_EQ(Element::number(ElementType::F32, 0.1).text(), "0.1");
  EXPECT_EQ(Element::number(ElementType::F64, -HUGE_VAL).text(), "-inf");
  EXPECT_EQ(Element::number(ElementType::F64, -std::nan("")).text(), "nan");
  EXPECT_EQ(Element::complex(ElementType::C64, {1.5, -2}).text(), "(1.5,-2)");
}

} // namespace
} // namespace torchere::evaluation
