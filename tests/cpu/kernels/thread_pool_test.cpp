// The pool: every part once, from any number of callers.
#include "cpu/kernels/thread_pool.h"

#include "base/memory_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace torchere::cpu {
namespace {

/// Of two parts, that each begins on a thread of its own: each counts itself, and waits for the other one.
void awaitBoth(std::atomic<int> &begun) {
  ++begun;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (begun < 2 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
}

TEST(ThreadPool, RunsEveryPartOnce) {
  for (int threads : {0, 1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), std::max(threads, 1));
    for (int64_t parts : {0, 1, 2, 7, 100}) {
      std::vector<int> counts(parts);
      pool.parallelFor(parts, [&](int64_t part) { ++counts[part]; });
      EXPECT_EQ(counts, std::vector<int>(parts, 1));
    }
  }
}

TEST(ThreadPool, ManyShortJobs) {
  ThreadPool pool(3);
  std::vector<int64_t> sums(5);
  for (int64_t i = 0; i < 5000; ++i)
    pool.parallelFor(5, [&](int64_t part) { sums[part] += i; });
  EXPECT_EQ(sums, std::vector<int64_t>(5, 5000 * 4999 / 2));
}

TEST(ThreadPool, WakesAfterItsThreadsSlept) {
  ThreadPool pool(2);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::vector<int> counts(64);
    pool.parallelFor(64, [&](int64_t part) { ++counts[part]; });
    EXPECT_EQ(counts, std::vector<int>(64, 1));
  }
}

/// The threads of a pool that slept may run everywhere in the job that woke them.
TEST(ThreadPool, WokenThreadsKeepTheirCores) {
  ThreadPool pool(2);
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2)); // longer than threads spin
    std::atomic<int> begun = 0, same = 0;
    pool.parallelFor(2, [&](int64_t) {
      awaitBoth(begun);
      cpu_set_t own;
      same += sched_getaffinity(0, sizeof own, &own) == 0 && CPU_EQUAL(&own, &all);
    });
    EXPECT_EQ(same, 2);
  }
}

TEST(ThreadPool, CallersDoNotWaitForEachOther) {
  ThreadPool pool(2);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 300; ++j)
        pool.parallelFor(7, [&](int64_t part) { total += part; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 4 * 300 * 21);
}

TEST(ThreadPool, APartMayCall) {
  ThreadPool pool(2);
  std::atomic<int> total{0};
  pool.parallelFor(4, [&](int64_t) { pool.parallelFor(5, [&](int64_t) { ++total; }); });
  EXPECT_EQ(total, 20);
}

/// Whether two parts run at once: each waits until the other has come, for a while.
static bool runsTwoAtOnce(ThreadPool &pool) {
  std::atomic<int> come{0};
  std::atomic<bool> met{false};
  pool.parallelFor(2, [&](int64_t) {
    awaitBoth(come);
    if (come == 2)
      met = true;
  });
  return met;
}

TEST(ThreadPool, AForkedProcessStartsThreadsOfItsOwn) {
  ThreadPool pool(2);
  ASSERT_TRUE(runsTwoAtOnce(pool));
  pid_t child = fork();
  if (child == 0)
    _exit(runsTwoAtOnce(pool) && runsTwoAtOnce(pool) ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(runsTwoAtOnce(pool));
}

TEST(ThreadPool, ACallOfAnotherPoolDuringAJobIsDoneAlone) {
  ThreadPool first(2), second(2);
  std::atomic<int> done{0};
  first.parallelFor(2, [&](int64_t) {
    std::thread([&] { // not a thread of a pool
      std::thread::id caller = std::this_thread::get_id();
      second.parallelFor(8, [&](int64_t) { done += std::this_thread::get_id() == caller; });
    })
        .join();
  });
  EXPECT_EQ(done, 16);
}

TEST(ThreadPool, NoMoreThreadsThanCallersAndItsOwn) {
  ThreadPool pool(2);
  std::atomic<int> running{0}, most{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 50; ++j)
        pool.parallelFor(8, [&](int64_t) {
          int now = ++running, seen = most;
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          --running;
        });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_LE(most, 4);
}

TEST(ThreadPool, WhatAPartThrowsEndsTheJob) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int64_t failing : {0, 1, 50, 99}) {
      auto failAt = [&](int64_t part) {
        if (part == failing)
          throw std::bad_alloc();
      };
      EXPECT_THROW(pool.parallelFor(100, failAt), std::bad_alloc);
      auto failInside = [&](int64_t) { pool.parallelFor(100, failAt); };
      EXPECT_THROW(pool.parallelFor(4, failInside), std::bad_alloc);
      std::vector<int> counts(100); // and the next one is as ever
      pool.parallelFor(100, [&](int64_t part) { ++counts[static_cast<size_t>(part)]; });
      EXPECT_EQ(counts, std::vector<int>(100, 1));
    }
  }
}

/// Who still counted as a caller after a failure would make others do without threads.
TEST(ThreadPool, ThreadsTakePartsAfterAFailure) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.parallelFor(2, [](int64_t) { throw std::bad_alloc(); }), std::bad_alloc);
  std::atomic<int> begun{0};
  std::thread::id takers[2];
  pool.parallelFor(2, [&](int64_t part) { // waits for the other one, which needs a thread of its own then
    takers[part] = std::this_thread::get_id();
    awaitBoth(begun);
  });
  EXPECT_NE(takers[0], takers[1]);
}

TEST(ThreadPool, ScratchThatCannotGrowLeavesNone) {
  void *small = ThreadPool::scratch(100, 0);
  EXPECT_NE(small, nullptr);
  EXPECT_THROW(ThreadPool::scratch(size_t{1} << 62, 0), std::bad_alloc);
  auto *after = static_cast<char *>(ThreadPool::scratch(100, 0));
  ASSERT_NE(after, nullptr);
  std::fill_n(after, 100, char(7));
}

TEST(ThreadPool, ScratchIsKeptAndGrows) {
  auto *small = static_cast<char *>(ThreadPool::scratch(100, 3));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(small) % 64, 0u);
  EXPECT_EQ(ThreadPool::scratch(50, 3), small);
  EXPECT_NE(ThreadPool::scratch(50, 4), small);
  auto *large = static_cast<char *>(ThreadPool::scratch(1 << 20, 3));
  large[(1 << 20) - 1] = 1;
}

TEST(ThreadPool, ScratchIsCountedWhileItsThreadLives) {
  int64_t before = memoryTaken();
  std::thread([&] {
    ThreadPool::scratch(100, 1);
    EXPECT_EQ(memoryTaken() - before, 4096);
    ThreadPool::scratch(10000, 1);
    ThreadPool::scratch(4096, 2);
    EXPECT_EQ(memoryTaken() - before, 3 * 4096 + 4096);
    EXPECT_THROW(ThreadPool::scratch(static_cast<size_t>(memoryLimit() - memoryTaken()) + (1 << 20), 1),
                 std::bad_alloc);
    EXPECT_EQ(memoryTaken() - before, 4096);
  }).join();
  EXPECT_EQ(memoryTaken(), before);
}

TEST(Isa, NamesAndChoice) {
  for (Isa isa : supportedIsas())
    EXPECT_EQ(*isaFromName(isaName(isa)), isa);
  EXPECT_EQ(supportedIsas().front(), Isa::Baseline);
  EXPECT_EQ(isaFromName("sse9").error().message,
            "[cpu] unknown instruction set: got sse9, expected baseline, avx2 or avx512");
  unsetenv("TORCHERE_CPU_ISA");
  EXPECT_EQ(*chosenIsa(), supportedIsas().back());
  setenv("TORCHERE_CPU_ISA", "baseline", 1);
  EXPECT_EQ(*chosenIsa(), Isa::Baseline);
  setenv("TORCHERE_CPU_ISA", "x", 1);
  EXPECT_EQ(chosenIsa().error().message,
            "[TORCHERE_CPU_ISA] unknown instruction set: got x, expected baseline, avx2 or avx512");
  unsetenv("TORCHERE_CPU_ISA");
}

} // namespace
} // namespace torchere::cpu
