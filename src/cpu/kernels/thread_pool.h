// Threads that wait for work by spinning, then by sleeping; and what a kernel needs to run: a pool and an
// ISA.
#pragma once

#include "cpu/kernels/isa.h"
#include "cpu/kernels/sleeping_thread.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

namespace torchere::cpu {

/// Runs the parts of one job at a time. A job's parts are numbered, and each has its home thread, the same in
/// every job of as many parts, so that data stay in that thread's cache; a thread without parts left takes
/// those of others. What a part computes must not depend on the thread: results are then the same for any
/// number of threads.
class ThreadPool {
public:
  /// `threads` counts the caller: one that is 1 or less has no threads of its own. Throws std::system_error
  /// if the system has no more threads.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return threads_; }

  /// Calls body(part) for each part in [0, parts) and returns when all are done. Any thread may call. A call
  /// that finds another's job under way, of this pool or another one, or that is made by a part, does its
  /// parts alone, so the threads that run never outnumber the callers by more than one pool's own. In a
  /// forked process the first call starts the threads again. What a part throws, for want of memory, ends the
  /// job: parts that were not begun are left out, and the call throws the first of it.
  template <class Body> void parallelFor(int64_t parts, const Body &body) {
    run(parts, &callBody<Body>, &body);
  }

  /// At least `bytes` of memory of the calling thread, aligned to 64; valid until its next call with the same
  /// `slot`, kept between calls. The slots are a kernel's own: a kernel that calls another names different
  /// ones. Throws std::bad_alloc if there is not enough.
  static void *scratch(size_t bytes, int slot);
  static constexpr int kScratchSlots = 8;

private:
  using PartFunction = void (*)(const void *body, int64_t part);
  template <class Body> static void callBody(const void *body, int64_t part) {
    (*static_cast<const Body *>(body))(part);
  }
  struct alignas(64) Range {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  void startThreads();
  void stopThreads();
  bool isOfThisProcess();
  void run(int64_t parts, PartFunction function, const void *body);
  void runAlone(int64_t parts, PartFunction function, const void *body);
  void publish(int64_t parts, PartFunction function, const void *body);
  void takeParts(int home) noexcept;
  void failJob(std::exception_ptr failure) noexcept;
  void fetchJob(int home) const;
  bool join();
  void workerLoop(int home);
  int waitForJob(int seen, SleepingThread &self);
  void sleepToBePlaced(int seen, SleepingThread &self);

  const int threads_;
  std::vector<std::thread> workers_; ///< started again, while others call, in a process that was forked
  std::unique_ptr<Range[]> ranges_;  ///< one a thread; the caller's is the first
  std::unique_ptr<SleepingThread[]> sleepers_; ///< one a worker
  int spins_ = 0;
  std::atomic<int> forks_{0}; ///< of the process's line when the threads were started; restarting: -1
  /// Counts the jobs; workers sleep on it. What they need next is in the same line of the cache.
  alignas(64) std::atomic<int> generation_{0};
  PartFunction function_ = nullptr;
  std::atomic<const void *> body_{nullptr};
  std::atomic<int> asleep_{0}; ///< workers that can be placed
  /// The workers in the current job; kOpen while others may join. The job's fields change only while it is 0.
  alignas(64) std::atomic<int> members_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> hasFailed_{false}; ///< the current job
  std::exception_ptr failure_;         ///< of who set hasFailed_
};

/// What every kernel is given.
struct Context {
  ThreadPool &pool;
  Isa isa;
};

} // namespace torchere::cpu
