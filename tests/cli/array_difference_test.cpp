// How far arrays are apart: scales, masks, what is not finite, types.
#include "cli/array_difference.h"
#include "cli/elements.h"

#include <gtest/gtest.h>

#include <cmath>

namespace torchere::cli {
namespace {

runtime::HostArray arrayOf(DType dtype, const std::vector<double> &values) {
  DType part = partType(dtype);
  auto memory = std::make_shared<std::vector<std::byte>>(values.size() * byteSize(part));
  for (size_t i = 0; i < values.size(); ++i)
    writeElement(part, values[i], memory->data() + i * byteSize(part));
  auto count = static_cast<int64_t>(memory->size() / byteSize(dtype));
  return {memory->data(), std::make_shared<runtime::ArrayType>(runtime::ArrayType{dtype, {count}}), memory};
}

std::string verdict(DType dtype, const std::vector<double> &got, const std::vector<double> &expected) {
  return compareArrays(arrayOf(dtype, got), arrayOf(dtype, expected)).verdict;
}

TEST(ArrayDifference, FloatsMayDifferByAPartOfTheScale) {
  EXPECT_EQ(verdict(DType::F32, {100.001, 0.001}, {100, 0}), "");
  EXPECT_EQ(verdict(DType::F32, {101, 0}, {100, 0}), "got 1.0e-02, expected at most 1.0e-04");
  EXPECT_EQ(verdict(DType::BF16, {101, 0}, {100, 0}), "");
  EXPECT_EQ(verdict(DType::F64, {100.00001, 0}, {100, 0}), "got 1.0e-07, expected at most 1.0e-10");
  EXPECT_EQ(verdict(DType::F16, {1, 0}, {1, 0.5}), "got 5.0e-01, expected at most 1.0e-02");
  EXPECT_EQ(verdict(DType::C64, {1, 2}, {1, 2.5}), "got 2.0e-01, expected at most 1.0e-04");
  runtime::HostArray got = arrayOf(DType::F32, {101}), expected = arrayOf(DType::F32, {100});
  EXPECT_EQ(compareArrays(got, expected, 0.1).verdict, "");
  EXPECT_DOUBLE_EQ(compareArrays(got, expected).error, 1);
}

TEST(ArrayDifference, MasksHaveAScaleOfTheirOwn) {
  EXPECT_EQ(verdict(DType::F32, {-3e38, 1.1}, {-3e38, 1}), "got 1.0e-01, expected at most 1.0e-04");
  EXPECT_EQ(verdict(DType::F32, {-2e38, 1}, {-3e38, 1}), "got 3.3e-01, expected at most 1.0e-04");
}

TEST(ArrayDifference, WhatIsNotFiniteIsInItsPlace) {
  double inf = HUGE_VAL, nan = std::nan("");
  EXPECT_EQ(verdict(DType::F32, {inf, nan, 1}, {inf, nan, 1}), "");
  for (double other : {-inf, nan, 1.0})
    EXPECT_EQ(verdict(DType::F32, {inf}, {other}), "1 of 1 elements are finite in one of them alone");
}

TEST(ArrayDifference, IntegersAreEqual) {
  EXPECT_EQ(verdict(DType::I64, {1, 2, 3}, {1, 2, 3}), "");
  EXPECT_EQ(verdict(DType::I8, {1, -2, 3}, {1, 2, 4}), "2 of 3 elements differ");
  EXPECT_EQ(verdict(DType::Bool, {1}, {0}), "1 of 1 elements differ");
  EXPECT_EQ(compareArrays(arrayOf(DType::U8, {1}), arrayOf(DType::U8, {250})).error, 249);
}

TEST(ArrayDifference, TypesAreComparedFirst) {
  EXPECT_EQ(compareArrays(arrayOf(DType::F32, {1}), arrayOf(DType::F64, {1})).verdict,
            "another dtype: got float32, expected float64");
  EXPECT_EQ(compareArrays(arrayOf(DType::F32, {1}), arrayOf(DType::F32, {1, 2})).verdict,
            "another shape: got (1,), expected (2,)");
  EXPECT_EQ(verdict(DType::F32, {}, {}), "");
}

TEST(Elements, EveryDTypeIsReadAsItIsWritten) {
  for (DType dtype :
       {DType::Bool, DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::U16, DType::U32,
        DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64, DType::F8E4M3FN, DType::F8E5M2}) {
    std::byte memory[8] = {};
    writeElement(dtype, 1, memory);
    EXPECT_EQ(readElement(dtype, memory), 1) << dtypeInfo(dtype).torchName;
  }
}

} // namespace
} // namespace torchere::cli
