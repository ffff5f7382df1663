// Where copies lie that one run packs.
#include "cpu/execute/packed_region.h"
#include "cpu/plan/large_pages.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

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

TEST(PackedRegion, PiecesLieInTheFirstSlabThatHasRoom) {
  if (poisonMode() != Poison::Off)
    GTEST_SKIP() << "each piece has memory of its own";
  PackedRegion region;
  Piece first = allocate(largePage / 2), second = allocate(100), third = allocate(largePage);
  EXPECT_EQ(second.get(), first.get() + largePage / 2);
  EXPECT_EQ(third.use_count(), 2) << "it did not fit: a slab, which the region has too";
  Piece fourth = allocate(largePage / 4);
  EXPECT_EQ(fourth.get(), second.get() + 128);
  EXPECT_EQ(first.use_count(), 3);
  second = fourth = nullptr;
  EXPECT_EQ(first.use_count(), 1) << "the region has its latest slab alone";
  Piece fifth = allocate(64);
  EXPECT_EQ(fifth.get(), first.get() + largePage / 2 + 128 + largePage / 4);
}

/// As a loop does whose weights are another iteration's.
TEST(PackedRegion, SlabsAreFreedWhenNobodyHasTheirPieces) {
  if (poisonMode() != Poison::Off)
    GTEST_SKIP() << "each piece has memory of its own";
  int64_t before = torchere::memoryTaken();
  PackedRegion region;
  for (int iteration = 0; iteration < 100; ++iteration) {
    allocate(largePage);
    EXPECT_LE(torchere::memoryTaken() - before, 2 * largePage);
  }
}

static int64_t residentBytes(const std::byte *memory, int64_t bytes) {
  int64_t page = sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> isResident(static_cast<size_t>(bytes / page));
  EXPECT_EQ(mincore(const_cast<std::byte *>(memory), static_cast<size_t>(bytes), isResident.data()), 0);
  return page * std::ranges::count_if(isResident, [](unsigned char each) { return (each & 1) != 0; });
}

TEST(PackedRegion, WhatIsLeftOfSlabsIsReturnedAtItsEnd) {
  if (poisonMode() != Poison::Off)
    GTEST_SKIP() << "each piece has memory of its own";
  int64_t before = torchere::memoryTaken();
  Piece first, second;
  {
    PackedRegion region;
    first = allocate(4 * largePage);
    second = allocate(largePage / 4);
    EXPECT_EQ(torchere::memoryTaken() - before, 8 * largePage);
  }
  EXPECT_EQ(torchere::memoryTaken() - before, 4 * largePage + largePage / 4);
  EXPECT_EQ(residentBytes(second.get(), 4 * largePage), largePage / 4);
  EXPECT_EQ(second[largePage / 4 - 1], std::byte{1});
  first = second = nullptr;
  EXPECT_EQ(torchere::memoryTaken(), before);
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
