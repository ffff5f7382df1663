// Elements as numbers: every dtype, and the small floats by their published extremes.
#include "cli/tensor_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace torchere::cli {
namespace {

template <class T> std::string shown(DType dtype, T value) {
  return elementJson(dtype, &value).dump();
}

TEST(ElementJson, ShowsIntegersBoolsAndFloats) {
  EXPECT_EQ(shown(DType::Bool, uint8_t(1)), "true");
  EXPECT_EQ(shown(DType::I8, int8_t(-3)), "-3");
  EXPECT_EQ(shown(DType::U8, uint8_t(200)), "200");
  EXPECT_EQ(shown(DType::I16, int16_t(-300)), "-300");
  EXPECT_EQ(shown(DType::U16, uint16_t(65535)), "65535");
  EXPECT_EQ(shown(DType::I32, int32_t(-70000)), "-70000");
  EXPECT_EQ(shown(DType::U32, uint32_t(4000000000u)), "4000000000");
  EXPECT_EQ(shown(DType::I64, INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(shown(DType::U64, UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(shown(DType::F32, 0.1f), "0.1");
  EXPECT_EQ(shown(DType::F32, -HUGE_VALF), "\"-inf\"");
  EXPECT_EQ(shown(DType::F64, 0.1), "0.1");
  EXPECT_EQ(shown(DType::F64, std::nan("")), "\"nan\"");
  float complex[] = {1.5f, -2.0f};
  EXPECT_EQ(elementJson(DType::C64, complex).dump(), "[1.5,-2.0]");
  double wide[] = {0.25, HUGE_VAL};
  EXPECT_EQ(elementJson(DType::C128, wide).dump(), "[0.25,\"inf\"]");
  uint16_t narrow[] = {0x3C00, 0xC000};
  EXPECT_EQ(elementJson(DType::C32, narrow).dump(), "[1.0,-2.0]");
}

// Extremes: IEEE 754 for float16, the OCP specification of 8-bit floats, LLVM's APFloat for the FNUZ forms.
TEST(ElementJson, DecodesSmallFloats) {
  EXPECT_EQ(shown(DType::F16, uint16_t(0x7BFF)), "65504.0");
  EXPECT_EQ(shown(DType::F16, uint16_t(0x0001)), "5.960464477539063e-08");
  EXPECT_EQ(shown(DType::F16, uint16_t(0xFC00)), "\"-inf\"");
  EXPECT_EQ(shown(DType::F16, uint16_t(0x7C01)), "\"nan\"");
  EXPECT_EQ(shown(DType::BF16, uint16_t(0xC0A0)), "-5.0");
  EXPECT_EQ(shown(DType::F8E4M3FN, uint8_t(0x7E)), "448.0");
  EXPECT_EQ(shown(DType::F8E4M3FN, uint8_t(0x7F)), "\"nan\"");
  EXPECT_EQ(shown(DType::F8E5M2, uint8_t(0x7B)), "57344.0");
  EXPECT_EQ(shown(DType::F8E5M2, uint8_t(0x7C)), "\"inf\"");
  EXPECT_EQ(shown(DType::F8E4M3FNUZ, uint8_t(0x7F)), "240.0");
  EXPECT_EQ(shown(DType::F8E4M3FNUZ, uint8_t(0x80)), "\"nan\"");
  EXPECT_EQ(shown(DType::F8E5M2FNUZ, uint8_t(0x7F)), "57344.0");
  EXPECT_EQ(shown(DType::F8E8M0FNU, uint8_t(130)), "8.0");
  EXPECT_EQ(shown(DType::F8E8M0FNU, uint8_t(255)), "\"nan\"");
}

TEST(ElementsText, StopsAtTheLimit) {
  std::vector<float> values = {1, 2.5, -0.125};
  EXPECT_EQ(elementsText(DType::F32, values.data(), 3, 8), "[1.0, 2.5, -0.125]");
  EXPECT_EQ(elementsText(DType::F32, values.data(), 3, 2), "[1.0, 2.5, ...]");
  EXPECT_EQ(elementsText(DType::F32, values.data(), 3, 0), "[...]");
  EXPECT_EQ(elementsText(DType::F32, nullptr, 0, 8), "[]");
  values[0] = std::nanf("");
  EXPECT_EQ(elementsText(DType::F32, values.data(), 1, 8), "[nan]");
  EXPECT_EQ(elementsJson(DType::F32, values.data(), 3, 2).dump(), "[\"nan\",2.5]");
}

} // namespace
} // namespace torchere::cli
