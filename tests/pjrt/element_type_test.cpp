// The table of element types: both ways, and what one side has not.
#include "pjrt/element_type.h"

#include <gtest/gtest.h>

namespace torchere::pjrt {
namespace {

TEST(ElementType, EveryOneButFloatsOfSixBitsGoesThereAndBack) {
  for (const ElementTypeInfo &info : elementTypes) {
    std::optional<BufferType> type = bufferTypeOf(info.type);
    EXPECT_EQ(type.has_value(), info.kind != ElementKind::Float || info.bits != 6) << info.name;
    if (type) {
      EXPECT_EQ(elementTypeOf(*type), info.type) << info.name;
    }
  }
}

TEST(ElementType, EveryTypeOfPjrtButTokensIsOne) {
  for (int i = static_cast<int>(BufferType::Pred); i <= static_cast<int>(BufferType::F4E2M1FN); ++i) {
    auto type = static_cast<BufferType>(i);
    std::optional<ElementType> elementType = elementTypeOf(type);
    EXPECT_EQ(elementType.has_value(), type != BufferType::Token) << i;
    if (elementType) {
      EXPECT_EQ(bufferTypeOf(*elementType), type) << i;
    }
  }
  EXPECT_EQ(elementTypeOf(BufferType::Invalid), std::nullopt);
  EXPECT_EQ(elementTypeOf(static_cast<BufferType>(99)), std::nullopt);
}

TEST(ElementType, EveryDTypeButComplex32GoesThereAndBack) {
  for (int i = 0; i <= static_cast<int>(DType::F8E8M0FNU); ++i) {
    auto dtype = static_cast<DType>(i);
    std::optional<BufferType> type = bufferTypeOf(dtype);
    EXPECT_EQ(type.has_value(), dtype != DType::C32);
    if (type) {
      EXPECT_EQ(dtypeOf(*type), dtype);
    }
  }
  EXPECT_EQ(dtypeOf(BufferType::S4), std::nullopt);
  EXPECT_EQ(dtypeOf(BufferType::Token), std::nullopt);
}

TEST(ElementType, HasPjrtsNumbers) {
  EXPECT_EQ(bufferTypeOf(DType::BF16), BufferType::BF16);
  EXPECT_EQ(static_cast<int>(*bufferTypeOf(DType::F32)), 11);
  EXPECT_EQ(static_cast<int>(*bufferTypeOf(DType::F8E8M0FNU)), 28);
}

} // namespace
} // namespace torchere::pjrt
