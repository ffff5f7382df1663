// The order of elements by keys against std::stable_sort.
#include "cpu/kernels/key_order.h"
#include "test_values.h"

#include <algorithm>
#include <numeric>

namespace torchere::cpu {
namespace {

template <class T>
std::vector<uint32_t> ordered(SortKey key, const std::vector<T> &line, bool *hasOrder = nullptr) {
  auto n = static_cast<int64_t>(line.size());
  std::vector<uint32_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<uint64_t> scratch(static_cast<size_t>(keyOrderScratch(n) / 8 + 1));
  bool result = orderByKey(key, line.data(), n, order.data(), scratch.data());
  if (hasOrder)
    *hasOrder = result;
  return order;
}

template <class T> std::vector<uint32_t> first(SortKey key, const std::vector<T> &line, size_t count) {
  auto n = static_cast<int64_t>(count);
  std::vector<uint32_t> order(count);
  std::vector<uint64_t> scratch(static_cast<size_t>(keyOrderScratch(n) / 8 + 1));
  EXPECT_TRUE(
      firstByKey(key, line.data(), static_cast<int64_t>(line.size()), n, order.data(), scratch.data()));
  return order;
}

template <class T> void expectSorted(DType type, const std::vector<T> &line) {
  for (bool descending : {false, true}) {
    std::vector<uint32_t> expected(line.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) {
      return descending ? line[a] > line[b] : line[a] < line[b];
    });
    SortKey key{type, FloatOrder::Partial, descending};
    EXPECT_EQ(ordered(key, line), expected) << line.size();
    for (size_t count : {size_t(1), size_t(3), line.size() / 2, line.size()})
      if (count > 0 && count <= line.size()) {
        std::vector<uint32_t> beginning(expected.begin(), expected.begin() + static_cast<int64_t>(count));
        EXPECT_EQ(first(key, line, count), beginning) << line.size();
      }
  }
}

TEST(KeyOrder, OfFewAndOfMany) {
  std::mt19937_64 generator(1);
  for (int64_t n : {0, 1, 2, 17, 255, 256, 5000}) {
    std::vector<int64_t> wide(n);
    std::vector<uint8_t> bytes(n), truths(n);
    std::vector<int16_t> shorts(n);
    std::vector<double> doubles(n);
    for (int64_t i = 0; i < n; ++i) {
      wide[i] = static_cast<int64_t>(generator()) >> (i % 60);
      bytes[i] = static_cast<uint8_t>(generator());
      truths[i] = generator() % 3 == 0;
      shorts[i] = static_cast<int16_t>(generator());
      doubles[i] = static_cast<double>(wide[i]) / 3;
    }
    expectSorted(DType::I64, wide);
    expectSorted(DType::U8, bytes);
    expectSorted(DType::Bool, truths);
    expectSorted(DType::Bool, std::vector<uint8_t>(n, 0));
    expectSorted(DType::Bool, std::vector<uint8_t>(n, 1));
    expectSorted(DType::I16, shorts);
    expectSorted(DType::F64, doubles);
    expectSorted(DType::F32, randomFloats(n));
  }
}

TEST(KeyOrder, OrdersOfFloats) {
  std::vector<float> line = {NAN, 1, 0.0f, -0.0f, -INFINITY, -NAN, INFINITY};
  EXPECT_EQ(ordered({DType::F32, FloatOrder::Total, false}, line),
            (std::vector<uint32_t>{5, 4, 3, 2, 1, 6, 0}));
  EXPECT_EQ(ordered({DType::F32, FloatOrder::NanLast, false}, line),
            (std::vector<uint32_t>{4, 2, 3, 1, 6, 0, 5}));
  EXPECT_EQ(ordered({DType::F32, FloatOrder::NanLast, true}, line),
            (std::vector<uint32_t>{0, 5, 6, 1, 2, 3, 4}));
  bool hasOrder = true;
  EXPECT_EQ(ordered({DType::F32, FloatOrder::Partial, false}, line, &hasOrder),
            (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(hasOrder);
  std::vector<uint16_t> halves = {f16OfFloat(2), f16OfFloat(-1), 0x7e00, f16OfFloat(0.5f)};
  EXPECT_EQ(ordered({DType::F16, FloatOrder::NanLast, false}, halves), (std::vector<uint32_t>{1, 3, 0, 2}));
}

/// A second key decides among equals of the first.
TEST(KeyOrder, IsStable) {
  std::vector<int32_t> second = {3, 1, 2, 1}, first = {1, 1, 0, 1};
  std::vector<uint32_t> order(4);
  std::iota(order.begin(), order.end(), 0);
  std::vector<uint64_t> scratch(static_cast<size_t>(keyOrderScratch(4)));
  orderByKey({DType::I32, FloatOrder::Total, false}, second.data(), 4, order.data(), scratch.data());
  orderByKey({DType::I32, FloatOrder::Total, false}, first.data(), 4, order.data(), scratch.data());
  EXPECT_EQ(order, (std::vector<uint32_t>{2, 1, 3, 0}));
}

} // namespace
} // namespace torchere::cpu
