// ResultPool: memory of results is used again, and what waits has one limit for all pools.
#include "cpu/plugin/result_pool.h"

#include "base/memory_share.h"

#include <gtest/gtest.h>

#include <thread>

namespace torchere::cpu {
namespace {

constexpr int64_t part = ResultPool::maxIdleBytes / 4;

std::shared_ptr<ResultPool> newPool() {
  return std::make_shared<ResultPool>();
}

/// Of memory that waits after it.
const std::byte *takeAndPutBack(ResultPool &pool, int64_t bytes) {
  auto taken = pool.take(bytes);
  EXPECT_TRUE(taken);
  return taken ? taken->get() : nullptr;
}

TEST(ResultPools, UseMemoryAgain) {
  int64_t before = memoryTaken();
  auto pool = newPool();
  const std::byte *memory = takeAndPutBack(*pool, part);
  EXPECT_EQ(memoryTaken() - before, part);
  auto again = *pool->take(part), other = *pool->take(part);
  EXPECT_EQ(again.get(), memory);
  EXPECT_NE(other.get(), memory);
  EXPECT_EQ(memoryTaken() - before, 2 * part);
  again = nullptr;
  pool = nullptr;
  EXPECT_EQ(memoryTaken() - before, part);
  other = nullptr;
  EXPECT_EQ(memoryTaken(), before);
}

TEST(ResultPools, KeepNothingBeyondTheLimit) {
  int64_t before = memoryTaken();
  auto pool = newPool();
  takeAndPutBack(*pool, ResultPool::maxIdleBytes + 1);
  EXPECT_EQ(memoryTaken(), before);
  takeAndPutBack(*pool, ResultPool::maxIdleBytes);
  EXPECT_EQ(memoryTaken() - before, ResultPool::maxIdleBytes);
}

TEST(ResultPools, HaveOneLimitForWhatWaits) {
  int64_t before = memoryTaken();
  std::vector<std::shared_ptr<ResultPool>> pools;
  for (int i = 0; i < 6; ++i)
    takeAndPutBack(*pools.emplace_back(newPool()), part);
  EXPECT_EQ(memoryTaken() - before, 4 * part);
  pools.clear();
  EXPECT_EQ(memoryTaken(), before);
}

/// Memory that is in use does not count.
TEST(ResultPools, ReleaseWhatHasWaitedLongest) {
  int64_t before = memoryTaken();
  auto first = newPool(), second = newPool(), third = newPool();
  takeAndPutBack(*first, part);
  takeAndPutBack(*second, 2 * part);
  takeAndPutBack(*first, part); // again
  takeAndPutBack(*third, 2 * part);
  EXPECT_EQ(memoryTaken() - before, 3 * part); // without the second's
  auto used = *first->take(part);
  auto more = *third->take(2 * part);
  EXPECT_EQ(memoryTaken() - before, 3 * part);
  takeAndPutBack(*second, 4 * part);
  EXPECT_EQ(memoryTaken() - before, 7 * part);
  used = nullptr;
  EXPECT_EQ(memoryTaken() - before, 3 * part);
}

TEST(ResultPools, GiveWayToResultsThatNeedTheMemory) {
  auto first = newPool(), second = newPool();
  takeAndPutBack(*first, part);
  int64_t left = memoryLimit() - memoryTaken();
  auto share = MemoryShare::take(left - part / 2); // others have almost all
  ASSERT_TRUE(share);
  EXPECT_TRUE(second->take(part));
  auto most = second->take(2 * part);
  ASSERT_FALSE(most);
  EXPECT_EQ(most.error().code, ErrorCode::ResourceExhausted);
}

TEST(ResultPools, AreUsedFromManyThreads) {
  int64_t before = memoryTaken();
  std::vector<std::shared_ptr<ResultPool>> pools = {newPool(), newPool(), newPool()};
  {
    std::vector<std::jthread> threads;
    for (size_t thread = 0; thread < 6; ++thread)
      threads.emplace_back([&, thread] {
        for (size_t call = 0; call < 200; ++call) {
          takeAndPutBack(*pools[(thread + call) % 3], part + static_cast<int64_t>(call % 5));
          takeAndPutBack(*newPool(), 100);
        }
      });
  }
  EXPECT_LE(memoryTaken() - before, ResultPool::maxIdleBytes);
  pools.clear();
  EXPECT_EQ(memoryTaken(), before);
}

} // namespace
} // namespace torchere::cpu
