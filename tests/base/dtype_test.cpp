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

} // namespace
} // namespace torchere
