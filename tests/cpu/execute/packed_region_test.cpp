// Where copies lie that one run packs.
#include "cpu/execute/packed_region.h"
#include "cpu/plan/large_pages.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace torchere::cpu;

using Piece = std::shared_ptr<std::byte[]>;

static Piece allocate(int64_t bytes) {
  torchere::Result<Piece> piece = PackedRegion::allocate(bytes);
  EXPECT_TRUE(piece) << piece.error().text();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(piece->get()) % memoryAlignment, 0u);
  std::memset(piece->get(), 1, static_cast<size_t>(bytes));
  return *piece;
}

TEST(PackedRegion, LargePagesAreWholeWhereMuchOfTheLastIsNeeded) {
  if (poisonMode() != Poison::Off)
    GTEST_SKIP() << "memory ends at protected pages";
  constexpr int64_t half = largePage / 2;
  EXPECT_EQ(roundedToLargePages(0), 0);
  EXPECT_EQ(roundedToLargePages(half - 1), half - 1);
  EXPECT_EQ(roundedToLargePages(half), largePage);
  EXPECT_EQ(roundedToLargePages(largePage), largePage);
  EXPECT_EQ(roundedToLargePages(largePage + half - 1), largePage + half - 1);
  EXPECT_EQ(roundedToLargePages(largePage + half), 2 * largePage);
}

TEST(PackedRegion, PiecesOfOneRegionLieOneBehindTheOther) {
  if (poisonMode() != Poison::Off)
    GTEST_SKIP() << "each piece has memory of its own";
  PackedRegion region;
  Piece first = allocate(largePage / 2), second = allocate(100), third = allocate(largePage);
  EXPECT_EQ(second.get(), first.get() + largePage / 2);
  EXPECT_EQ(third.use_count(), 2) << "it did not fit: it has a slab that the region goes on with";
  Piece fourth = allocate(largePage - 128);
  EXPECT_NE(fourth.get(), second.get() + 128) << "a slab that is left is not gone back to";
  EXPECT_EQ(first.use_count(), 2);
}

TEST(PackedRegion, PiecesOutliveItAndEachOther) {
  Piece first, second;
  {
    PackedRegion region;
    first = allocate(largePage / 2);
    second = allocate(1000);
  }
  first = nullptr;
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_EQ(second[999], std::byte{1});
}

TEST(PackedRegion, AllocationsAreOfTheInnermostRegionOfTheThread) {
  if (poisonMode() != Poison::Off)
    GTEST_SKIP() << "each piece has memory of its own";
  PackedRegion outer;
  Piece first = allocate(largePage / 2);
  {
    PackedRegion inner;
    EXPECT_NE(allocate(64).get(), first.get() + largePage / 2);
  }
  EXPECT_EQ(allocate(64).get(), first.get() + largePage / 2);
}

TEST(PackedRegion, WithoutOneEachPieceIsAlone) {
  Piece first = allocate(64), second = allocate(64);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 1);
}
