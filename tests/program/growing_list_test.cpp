// GrowingList: its elements stay as it grows and moves.
#include "program/growing_list.h"

#include <gtest/gtest.h>

#include <numeric>

namespace torchere::program {
namespace {

TEST(GrowingList, KeepsItsElementsAsItGrows) {
  GrowingList<uint64_t> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
  constexpr uint64_t count = 300'000; // more than an allocator takes from its heap
  for (uint64_t i = 0; i < count; ++i)
    list.push_back(i);
  EXPECT_EQ(list.size(), count);
  EXPECT_EQ(list[17], 17u);
  EXPECT_EQ(std::accumulate(list.begin(), list.end(), uint64_t{0}), count * (count - 1) / 2);
}

TEST(GrowingList, TakesAnElementOfItsOwn) {
  GrowingList<uint64_t> list;
  list.push_back(7);
  for (int i = 0; i < 1000; ++i)
    list.push_back(list[0]);
  EXPECT_EQ(std::accumulate(list.begin(), list.end(), uint64_t{0}), 7007u);
}

TEST(GrowingList, MovesAndIsThenEmpty) {
  GrowingList<uint64_t> list;
  list.push_back(1);
  const uint64_t *place = list.begin();
  GrowingList<uint64_t> other(std::move(list));
  EXPECT_EQ(other.begin(), place);
  EXPECT_TRUE(list.empty());
  list.push_back(2); // and of use again
  other = std::move(list);
  EXPECT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0], 2u);
}

} // namespace
} // namespace torchere::program
