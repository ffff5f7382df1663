#include "base/segmented_vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace torchere {
namespace {

SegmentedVector<uint32_t> numbersUpTo(uint32_t count) {
  SegmentedVector<uint32_t> numbers;
  for (uint32_t i = 0; i < count; ++i)
    numbers.push_back(i);
  return numbers;
}

TEST(SegmentedVector, HoldsWhatWasPushedByIndexAndInOrder) {
  // One less and one more than what fills one, two, three segments, and several huge pages.
  for (uint32_t count : {0u, 1u, 15u, 16u, 17u, 47u, 48u, 49u, 111u, 112u, 113u, 2'000'000u}) {
    const SegmentedVector<uint32_t> numbers = numbersUpTo(count);
    std::vector<uint32_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(numbers.size(), count);
    EXPECT_EQ(numbers.empty(), count == 0);
    EXPECT_TRUE(std::ranges::equal(numbers, expected)) << count;
    for (uint32_t i = 0; i < count; i += 1 + count / 1000)
      EXPECT_EQ(numbers[i], i);
  }
}

TEST(SegmentedVector, KeepsAddressesWhileItGrowsAndWhenItIsMoved) {
  SegmentedVector<uint32_t> numbers = numbersUpTo(3);
  uint32_t *second = &numbers[1];
  for (uint32_t i = 3; i < 100'000; ++i)
    numbers.push_back(i);
  SegmentedVector<uint32_t> moved = std::move(numbers);
  EXPECT_EQ(second, &moved[1]);
  EXPECT_EQ(*second, 1u);
  EXPECT_TRUE(numbers.empty()); // NOLINT(bugprone-use-after-move)
}

TEST(SegmentedVector, TakesAnElementOfItsOwn) {
  SegmentedVector<uint32_t> numbers = numbersUpTo(16);
  numbers.push_back(numbers[7]);
  EXPECT_EQ(numbers[16], 7u);
}

TEST(SegmentedVector, ElementsCanBeWrittenWhileIterating) {
  SegmentedVector<uint32_t> numbers = numbersUpTo(50);
  for (uint32_t &number : numbers)
    number *= 2;
  EXPECT_EQ(numbers[49], 98u);
}

TEST(HugePageAllocator, RefusesSizesThatOverflow) {
  EXPECT_THROW(HugePageAllocator<uint64_t>().allocate(~size_t{0} / 4), std::bad_array_new_length);
}

} // namespace
} // namespace torchere
