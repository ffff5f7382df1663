// Elements of tensors in the forms that artifacts have them: bools as bits and as bytes, splats, small types.
#include "stablehlo/module_implementation.h"
#include "vhlo/attribute_table.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <gtest/gtest.h>

#include <vector>

namespace torchere::vhlo {

class Elements : public testing::Test {
protected:
  mlir::Attribute read(mlir::Type element, std::vector<int64_t> shape, std::string_view bytes) {
    return readElements(mlir::RankedTensorType::get(shape, element), bytes);
  }
  mlir::Type integer(unsigned width) { return mlir::IntegerType::get(context.get(), width); }
  std::vector<bool> booleans(mlir::Attribute elements) {
    std::vector<bool> values;
    for (bool value : mlir::cast<mlir::DenseElementsAttr>(elements).getValues<bool>())
      values.push_back(value);
    return values;
  }

  std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
};

TEST_F(Elements, BoolsAreBitsOrBytes) {
  for (int64_t count : {1, 2, 7, 8, 9, 16, 17}) {
    std::vector<bool> expected;
    std::string bits((count + 7) / 8, '\0'), bytes;
    for (int64_t index = 0; index < count; ++index) {
      bool value = index % 3 == 0;
      expected.push_back(value);
      bits[index / 8] |= value << (index % 8);
      bytes.push_back(value);
    }
    mlir::Attribute packed = read(integer(1), {count}, bits);
    ASSERT_TRUE(packed) << count;
    EXPECT_EQ(booleans(packed), expected) << count;
    EXPECT_EQ(read(integer(1), {count}, bytes), packed) << count;
  }
}

TEST_F(Elements, SplatsOfBoolsAreTheSameInEveryForm) {
  for (int64_t count : {1, 2, 7, 8, 9, 1000})
    for (bool value : {false, true}) {
      mlir::Attribute splat = read(integer(1), {count}, value ? "\xff" : std::string_view("\0", 1));
      ASSERT_TRUE(splat) << count;
      EXPECT_TRUE(mlir::cast<mlir::DenseElementsAttr>(splat).isSplat());
      if (count > 8) {
        EXPECT_EQ(read(integer(1), {count}, value ? "\x01" : std::string_view("\0", 1)), splat) << count;
      }
      EXPECT_EQ(booleans(splat), std::vector<bool>(count, value)) << count;
      EXPECT_EQ(read(integer(1), {count}, std::string(count, value)), splat) << count;
      EXPECT_EQ(read(integer(1), {count}, std::string((count + 7) / 8, value ? '\xff' : '\0')), splat)
          << count;
    }
  EXPECT_EQ(read(integer(1), {1}, "\x01"), read(integer(1), {1}, "\xff"));
}

TEST_F(Elements, NoBoolsAreEmptyOrASplat) {
  for (std::string_view bytes : {std::string_view(), std::string_view("\0", 1), std::string_view("\xff")}) {
    mlir::Attribute none = read(integer(1), {0, 3}, bytes);
    ASSERT_TRUE(none);
    EXPECT_EQ(booleans(none), std::vector<bool>());
  }
}

TEST_F(Elements, WrongSizesAreRefused) {
  EXPECT_FALSE(read(integer(1), {9}, "\x02"));
  EXPECT_FALSE(read(integer(1), {20}, "abcd"));
  EXPECT_FALSE(read(integer(1), {0}, "a"));
  EXPECT_FALSE(read(integer(32), {2}, "abcdefg"));
  EXPECT_FALSE(read(integer(32), {2}, ""));
  EXPECT_FALSE(read(mlir::Float32Type::get(context.get()), {2}, "ab"));
  EXPECT_FALSE(readElements(integer(32), "abcd"));
  EXPECT_FALSE(readElements({}, "abcd"));
}

TEST_F(Elements, ShapesThatNoMemoryHoldsAreRefusedUnlessSplat) {
  int64_t half = int64_t(1) << 40;
  EXPECT_FALSE(read(integer(32), {half, half}, "abcd"));
  EXPECT_FALSE(read(integer(32), {mlir::ShapedType::kDynamic}, "abcd"));
  EXPECT_TRUE(read(integer(32), {half}, "abcd"));
}

TEST_F(Elements, SmallTypesTakeAByteEach) {
  EXPECT_TRUE(read(integer(4), {3}, std::string_view("\x01\x02\x0f", 3)));
  EXPECT_TRUE(read(integer(2), {2}, std::string_view("\x01\x03", 2)));
  EXPECT_TRUE(read(mlir::Float8E4M3FNType::get(context.get()), {2}, std::string_view("\x01\x7e", 2)));
  EXPECT_TRUE(read(mlir::Float4E2M1FNType::get(context.get()), {2}, std::string_view("\x01\x02", 2)));
  EXPECT_TRUE(read(mlir::ComplexType::get(mlir::Float32Type::get(context.get())), {1}, std::string(8, '\1')));
}

TEST_F(Elements, NoElements) {
  EXPECT_TRUE(read(integer(1), {0}, ""));
  EXPECT_TRUE(read(integer(64), {0}, ""));
}

} // namespace torchere::vhlo
