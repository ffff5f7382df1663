// DType: every row of the table stands at its own index and is found by its name.
#include "base/dtype.h"

#include <gtest/gtest.h>

namespace torchere {
namespace {

TEST(DType, RowsAreInOrderAndFoundByName) {
  for (int index = 0; index <= static_cast<int>(DType::F8E8M0FNU); ++index) {
    const DTypeInfo &info = dtypeInfo(static_cast<DType>(index));
    EXPECT_EQ(static_cast<int>(info.dtype), index) << info.torchName;
    EXPECT_EQ(dtypeFromTorchName(info.torchName), info.dtype);
  }
  EXPECT_FALSE(dtypeFromTorchName("float31").has_value());
}

TEST(DType, RowsSayWhatTheTypesAreMadeOf) {
  struct Expected {
    DType dtype;
    std::string_view mlirName;
    size_t byteSize;
    bool isFloatingPoint, isComplex, isSigned;
  };
  const Expected rows[] = {
      {DType::Bool, "i1", 1, false, false, false},
      {DType::I16, "i16", 2, false, false, true},
      {DType::U32, "ui32", 4, false, false, false},
      {DType::BF16, "bf16", 2, true, false, true},
      {DType::F64, "f64", 8, true, false, true},
      {DType::C32, "", 4, false, true, true},
      {DType::C64, "complex<f32>", 8, false, true, true},
      {DType::C128, "complex<f64>", 16, false, true, true},
      {DType::F8E4M3FN, "f8E4M3FN", 1, true, false, true},
      {DType::F8E8M0FNU, "f8E8M0FNU", 1, true, false, false}, // powers of two have no sign
  };
  for (const Expected &row : rows) {
    const DTypeInfo &info = dtypeInfo(row.dtype);
    EXPECT_EQ(info.mlirName, row.mlirName);
    EXPECT_EQ(info.byteSize, row.byteSize) << info.torchName;
    EXPECT_EQ(info.isFloatingPoint, row.isFloatingPoint) << info.torchName;
    EXPECT_EQ(info.isComplex, row.isComplex) << info.torchName;
    EXPECT_EQ(info.isSigned, row.isSigned) << info.torchName;
  }
}

} // namespace
} // namespace torchere
