// The set of a thread's cores, changed around its sleep.
#include "cpu/kernels/sleeping_thread.h"

#include <thread>
#include <unistd.h>

namespace torchere::cpu {

void SleepingThread::fallAsleep() {
  thread_ = gettid(); // a forked process has other threads
  if (sched_getaffinity(0, sizeof allowed_, &allowed_) == 0)
    state_.store(Asleep, std::memory_order_release);
}

void SleepingThread::placeAwayFrom(int core) {
  State state = Asleep;
  if (core < 0 || core >= CPU_SETSIZE ||
      !state_.compare_exchange_strong(state, Placing, std::memory_order_acquire))
    return;
  placed_ = allowed_;
  CPU_CLR(core, &placed_);
  bool isPlaced = CPU_COUNT(&placed_) > 0 && !CPU_EQUAL(&placed_, &allowed_) &&
                  sched_setaffinity(thread_, sizeof placed_, &placed_) == 0;
  state_.store(isPlaced ? Placed : Asleep, std::memory_order_release);
}

void SleepingThread::wakeUp() {
  State state = state_.load(std::memory_order_acquire);
  do {
    while (state == Placing) {
      std::this_thread::yield();
      state = state_.load(std::memory_order_acquire);
    }
  } while (!state_.compare_exchange_weak(state, Awake, std::memory_order_acquire));
  if (state != Placed)
    return;
  cpu_set_t now; // someone else may have changed it since
  if (sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &placed_))
    sched_setaffinity(0, sizeof allowed_, &allowed_);
}

} // namespace torchere::cpu
