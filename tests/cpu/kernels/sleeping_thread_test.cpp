// The cores on which a thread may run, around its sleep.
#include "cpu/kernels/sleeping_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace torchere::cpu {
namespace {

cpu_set_t coresOf(int thread) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(thread, sizeof cores, &cores), 0);
  return cores;
}

int firstOf(const cpu_set_t &cores) {
  int core = 0;
  while (!CPU_ISSET(core, &cores))
    ++core;
  return core;
}

/// What a new thread may use that is placed away from a core, does something, and wakes up.
template <class Body> cpu_set_t coresAfterSleep(SleepingThread &sleeper, int core, const Body &placed) {
  cpu_set_t awake;
  std::thread([&] {
    sleeper.fallAsleep();
    sleeper.placeAwayFrom(core);
    placed();
    sleeper.wakeUp();
    awake = coresOf(0);
  }).join();
  return awake;
}

TEST(SleepingThread, IsPlacedAwayFromACoreUntilItWakesUp) {
  const cpu_set_t all = coresOf(0);
  const int core = firstOf(all);
  SleepingThread sleeper;
  std::promise<int> asleep;
  std::promise<void> placed;
  cpu_set_t awake;
  std::thread thread([&] {
    sleeper.fallAsleep();
    asleep.set_value(gettid());
    placed.get_future().wait();
    sleeper.wakeUp();
    awake = coresOf(0);
  });
  const int number = asleep.get_future().get();
  sleeper.placeAwayFrom(core);
  cpu_set_t others = all;
  if (CPU_COUNT(&all) > 1) // else the thread has no other core
    CPU_CLR(core, &others);
  const cpu_set_t during = coresOf(number);
  sleeper.placeAwayFrom(firstOf(others)); // it is placed already
  const cpu_set_t after = coresOf(number);
  placed.set_value();
  thread.join();
  EXPECT_TRUE(CPU_EQUAL(&during, &others));
  EXPECT_TRUE(CPU_EQUAL(&after, &others));
  EXPECT_TRUE(CPU_EQUAL(&awake, &all));
}

/// As in a forked process, where another thread takes the place of the parent's.
TEST(SleepingThread, IsTheThreadThatFellAsleepLast) {
  const cpu_set_t all = coresOf(0);
  if (CPU_COUNT(&all) < 2)
    GTEST_SKIP() << "needs two cores";
  SleepingThread sleeper;
  sleeper.fallAsleep();
  sleeper.forget();
  cpu_set_t during;
  const cpu_set_t awake = coresAfterSleep(sleeper, firstOf(all), [&] { during = coresOf(0); });
  const cpu_set_t own = coresOf(0);
  EXPECT_FALSE(CPU_ISSET(firstOf(all), &during));
  EXPECT_TRUE(CPU_EQUAL(&awake, &all));
  EXPECT_TRUE(CPU_EQUAL(&own, &all));
}

TEST(SleepingThread, WhatSomeoneElseChangedStays) {
  const cpu_set_t all = coresOf(0);
  if (CPU_COUNT(&all) < 2)
    GTEST_SKIP() << "needs two cores";
  SleepingThread sleeper;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(firstOf(all), &one);
  const cpu_set_t awake =
      coresAfterSleep(sleeper, firstOf(all), [&] { sched_setaffinity(0, sizeof one, &one); });
  EXPECT_TRUE(CPU_EQUAL(&awake, &one));
}

TEST(SleepingThread, IsLeftAloneWhileAwake) {
  const cpu_set_t all = coresOf(0);
  SleepingThread sleeper;
  sleeper.placeAwayFrom(firstOf(all));
  sleeper.fallAsleep();
  sleeper.placeAwayFrom(-1);
  sleeper.placeAwayFrom(CPU_SETSIZE);
  const cpu_set_t asleep = coresOf(0);
  sleeper.wakeUp();
  sleeper.placeAwayFrom(firstOf(all));
  const cpu_set_t awake = coresOf(0);
  EXPECT_TRUE(CPU_EQUAL(&asleep, &all));
  EXPECT_TRUE(CPU_EQUAL(&awake, &all));
}

} // namespace
} // namespace torchere::cpu
