// TensorView: density, and dense copies of strided views.
#include "session/tensor_view.h"

#include <gtest/gtest.h>

#include <numeric>

namespace torchere::session {
namespace {

TensorView view(const std::vector<int32_t> &data, std::span<const int64_t> shape,
                std::span<const int64_t> strides, size_t offset = 0) {
  return {data.data() + offset, DType::I32, shape, strides, "cpu", nullptr};
}

std::vector<int32_t> dense(const TensorView &view, size_t count) {
  auto copy = copyDense(view);
  EXPECT_TRUE(copy) << copy.error().text();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(copy->get()) % 64, 0u);
  const auto *data = static_cast<const int32_t *>(copy->get());
  return {data, data + count};
}

class TensorViewTest : public testing::Test {
protected:
  TensorViewTest() : data(24) { std::iota(data.begin(), data.end(), 0); }
  std::vector<int32_t> data;
};

TEST_F(TensorViewTest, KnowsDenseViews) {
  const int64_t shape[] = {2, 1, 3}, dense[] = {3, 3, 1}, odd[] = {3, 77, 1}, transposed[] = {1, 2, 2};
  EXPECT_TRUE(view(data, shape, {}).isContiguous());
  EXPECT_TRUE(view(data, shape, dense).isContiguous());
  EXPECT_TRUE(view(data, shape, odd).isContiguous()); // a dimension of size 1 has no stride that matters
  EXPECT_FALSE(view(data, shape, transposed).isContiguous());
  const int64_t empty[] = {4, 0}, any[] = {9, 9};
  EXPECT_TRUE(view(data, empty, any).isContiguous());
  EXPECT_TRUE(view(data, {}, {}).isContiguous());
}

TEST_F(TensorViewTest, CopiesTransposedSteppedReversedAndExpandedViews) {
  const int64_t shape[] = {3, 2}, transposed[] = {1, 3}, stepped[] = {8, 2}, reversed[] = {-2, -1},
                expanded[] = {1, 0};
  EXPECT_EQ(dense(view(data, shape, transposed), 6), (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(dense(view(data, shape, stepped), 6), (std::vector<int32_t>{0, 2, 8, 10, 16, 18}));
  EXPECT_EQ(dense(view(data, shape, reversed, 5), 6), (std::vector<int32_t>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(dense(view(data, shape, expanded), 6), (std::vector<int32_t>{0, 0, 1, 1, 2, 2}));
  const int64_t rows[] = {2, 3}, padded[] = {8, 1};
  EXPECT_EQ(dense(view(data, rows, padded), 6), (std::vector<int32_t>{0, 1, 2, 8, 9, 10}));
  EXPECT_EQ(dense(view(data, {}, {}, 7), 1), std::vector<int32_t>{7});
}

template <class T> class ElementSize : public testing::Test {};
struct Sixteen {
  int64_t low, high;
  bool operator==(const Sixteen &) const = default;
};
using Elements = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t, Sixteen>;
TYPED_TEST_SUITE(ElementSize, Elements);

TYPED_TEST(ElementSize, EveryOtherElement) {
  const DType dtypes[] = {DType::U8, DType::I16, DType::F32, DType::C64, DType::C128};
  TypeParam elements[6];
  for (size_t i = 0; i < sizeof(elements); ++i)
    reinterpret_cast<uint8_t *>(elements)[i] = static_cast<uint8_t>(i);
  const int64_t shape[] = {3}, strides[] = {2};
  for (DType dtype : dtypes) {
    if (byteSize(dtype) != sizeof(TypeParam))
      continue;
    auto copy = copyDense({elements, dtype, shape, strides, "cpu", nullptr});
    const auto *result = static_cast<const TypeParam *>(copy->get());
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(result[i] == elements[2 * i]);
  }
}

TEST_F(TensorViewTest, RefusesSizesThatDoNotFit) {
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40}, zero[] = {0, 0}, negative[] = {-2};
  auto overflow = copyDense(view(data, huge, zero));
  ASSERT_FALSE(overflow);
  EXPECT_EQ(overflow.error().message, "[array] too large: its size in bytes does not fit 63 bits");
  EXPECT_EQ(copyDense(view(data, negative, {})).error().message, "[array] negative dimension: got -2");
#ifndef __SANITIZE_ADDRESS__ // which ends the process instead
  const int64_t large[] = {int64_t{1} << 59};
  auto noMemory = copyDense(view(data, large, {}));
  ASSERT_FALSE(noMemory);
  EXPECT_EQ(noMemory.error().code, ErrorCode::ResourceExhausted);
  EXPECT_EQ(noMemory.error().message, "[tensor] no memory for a dense copy of 2305843009213693952 bytes");
#endif
}

TEST_F(TensorViewTest, DenseArraysAreNotCopied) {
  const int64_t shape[] = {2, 3}, strides[] = {1, 2};
  auto array = denseArray(view(data, shape, {}));
  EXPECT_EQ(array->data, data.data());
  EXPECT_EQ(*array->type, (runtime::ArrayType{DType::I32, {2, 3}}));
  EXPECT_NE(denseArray(view(data, shape, strides))->data, data.data());
}

} // namespace
} // namespace torchere::session
