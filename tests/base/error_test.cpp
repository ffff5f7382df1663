// Error: its text and the names of its codes.
#include "base/error.h"

#include <gtest/gtest.h>

namespace torchere {
namespace {

TEST(Error, TextNamesThePlaceWhenThereIsOne) {
  Error error{ErrorCode::InvalidArgument, "[aten.cat.default] no tensors: got 0, expected at least 1", {}};
  EXPECT_EQ(error.text(), "[aten.cat.default] no tensors: got 0, expected at least 1");
  error.where = "model.py:31 in encoder.layer.0";
  EXPECT_EQ(error.text(),
            "[aten.cat.default] no tensors: got 0, expected at least 1; at model.py:31 in encoder.layer.0");
}

TEST(Error, CodesHaveGrpcNames) {
  EXPECT_STREQ(errorCodeName(ErrorCode::InvalidArgument), "INVALID_ARGUMENT");
  EXPECT_STREQ(errorCodeName(ErrorCode::DataLoss), "DATA_LOSS");
}

Result<int> half(int value) {
  if (value % 2)
    return invalidArgument("[half] got {}, expected an even number", value);
  return value / 2;
}

Result<int> quarter(int value) {
  TORCHERE_ASSIGN(int first, half(value));
  return half(first);
}

TEST(Result, AssignReturnsTheError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "[half] got 3, expected an even number");
  EXPECT_EQ(quarter(5).error().message, "[half] got 5, expected an even number");
}

} // namespace
} // namespace torchere
