// MemoryShare: shares are counted, and memory that is kept only to be used again gives way.
#include "base/memory_share.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace torchere {
namespace {

TEST(MemoryShares, AreCountedUntilTheyEnd) {
  int64_t before = memoryTaken();
  {
    auto first = MemoryShare::take(100), second = MemoryShare::take(10, 8);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(memoryTaken() - before, 180);
    first->giveBack(30);
    EXPECT_EQ(memoryTaken() - before, 150);
    MemoryShare moved = *std::move(first);
    EXPECT_EQ(memoryTaken() - before, 150);
  }
  EXPECT_EQ(memoryTaken(), before);
}

TEST(MemoryShares, AreRefusedBeyondTheLimit) {
  auto most = MemoryShare::take(memoryLimit() - memoryTaken() - 1000);
  ASSERT_TRUE(most);
  auto more = MemoryShare::take(1001);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::ResourceExhausted);
  EXPECT_EQ(more.error().message,
            fmt::format("no memory for 1001 bytes: 1000 of {} are left", memoryLimit()));
  EXPECT_FALSE(MemoryShare::take(int64_t{1} << 62, 8));
  EXPECT_TRUE(MemoryShare::take(1000));
}

/// A share that is returned when somebody lacks memory.
class Kept {
public:
  explicit Kept(int64_t bytes) {
    if (auto taken = MemoryShare::take(bytes)) // not if another thread has all
      share.emplace(*std::move(taken));
  }
  std::atomic<int> releases = 0;

private:
  std::optional<MemoryShare> share;
  IdleMemory idle{[this] {
    ++releases;
    share.reset();
  }};
};

TEST(IdleMemories, GiveWay) {
  Kept first(1000), second(2000);
  int64_t left = memoryLimit() - memoryTaken();
  EXPECT_TRUE(MemoryShare::take(left));
  EXPECT_EQ(first.releases + second.releases, 0);
  EXPECT_FALSE(MemoryShare::take(memoryLimit() + 1)) << "more than all: nobody is asked";
  EXPECT_EQ(first.releases + second.releases, 0);
  EXPECT_TRUE(MemoryShare::take(left + 3000));
  EXPECT_FALSE(MemoryShare::take(left + 3001));
}

TEST(IdleMemories, AreAskedFromManyThreads) {
  int64_t before = memoryTaken();
  std::atomic<int> taken = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int call = 0; call < 200; ++call) {
          Kept kept(100);
          taken += MemoryShare::take(memoryLimit() - before).has_value(); // unless another has made one since
        }
      });
  }
  EXPECT_GE(taken, 1);
  EXPECT_EQ(memoryTaken(), before);
}

} // namespace
} // namespace torchere
