// Where a thread that sleeps is woken: on another core than its waker's.
#pragma once

#include <atomic>
#include <sched.h>

namespace torchere::cpu {

/// The core on which one thread is woken. A system may wake a thread on its waker's core though others are
/// idle (in a virtual machine Linux takes a halted core for one that its host has taken away); who wakes it
/// and goes on to work would share that core with it for milliseconds. So who wakes it first takes the own
/// core from the set of those that the thread may use, and the thread, awake, puts the set back. Nothing is
/// done where the system refuses, as with more than 1,024 cores, or the thread has no other core.
class SleepingThread {
public:
  /// The thread's own calls, around its sleep.
  void fallAsleep();
  void wakeUp();

  /// Of who wakes it, one at a time. Nothing, unless the thread sleeps and is not placed yet; it may wake up
  /// meanwhile.
  void placeAwayFrom(int core);

  /// Of a process that was forked, where the thread is not.
  void forget() { state_.store(Awake, std::memory_order_relaxed); }

private:
  enum State { Awake, Asleep, Placing, Placed };

  std::atomic<State> state_{Awake};
  int thread_ = 0;    ///< the system's number, as of fallAsleep
  cpu_set_t allowed_; ///< what the thread may use, as of fallAsleep
  cpu_set_t placed_;  ///< what it may use while it is Placed
};

} // namespace torchere::cpu
