// What is checked of the weights that an entry point takes, and the text of shapes.
#include "program/entry_point.h"

#include <gtest/gtest.h>

namespace torchere::program {
namespace {

TEST(CheckWeight, TakesTheTypeOfItsInputOnly) {
  EntryPoint function;
  SymInt size = function.expressions.symbol("s0");
  EntryInput input{InputSource::Parameter, "w", -1, {DType::F32, {2, 3}}};
  auto message = [&](DType dtype, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    Status status = checkWeight({"w", dtype, shape, strides, 0, nullptr}, input, function);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(message(DType::F32, {2, 3}, {3, 1}), "");
  EXPECT_EQ(message(DType::F32, {2, 3}, {1, 2}), ""); // strides are the storage's own affair
  EXPECT_EQ(message(DType::BF16, {2, 3}, {3, 1}),
            "[w] wrong dtype of the weight: got bfloat16, expected float32 by function \"forward\"");
  EXPECT_EQ(message(DType::F32, {2}, {1}),
            "[w] wrong shape of the weight: got (2,), expected (2, 3) by function \"forward\"");
  input.type.shape = {2, size};
  EXPECT_EQ(message(DType::F32, {2, 3}, {3, 1}),
            "[w] wrong shape of the weight: got (2, 3), expected (2, s0) by function \"forward\"");
}

TEST(ShapeText, IsPythonsTuple) {
  EXPECT_EQ(shapeText(std::vector<int64_t>{}), "()");
  EXPECT_EQ(shapeText(std::vector<int64_t>{4}), "(4,)");
  EXPECT_EQ(shapeText(std::vector<int64_t>{2, 3}), "(2, 3)");
}

} // namespace
} // namespace torchere::program
