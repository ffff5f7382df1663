// The pool's protocol: how a job is published, joined and closed.
#include "cpu/kernels/thread_pool.h"

#include "base/memory_share.h"
#include "cpu/kernels/float_environment.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>
#include <pthread.h>
#include <utility>

namespace torchere::cpu {
namespace {

constexpr int kOpen = 1 << 30;
constexpr int kSpins = 4000;     ///< of a caller, until the last parts of others are done
constexpr int kSpinsOfLook = 16; ///< between looks at the clock
/// How long a thread spins for the next job: that of the next call, if calls follow each other. Waking a
/// thread takes as long as the first steps of a call.
constexpr std::chrono::microseconds kSpinTime{250};

thread_local bool insideJob = false;

/// Whose job the threads do, of all pools'.
struct Turn {
  std::mutex busy;
  std::atomic<int> callers{0};
};
Turn *turn = new Turn;

/// Counted among the turn's callers while it lives.
struct Caller {
  explicit Caller(Turn &turn) : turn(turn), others(turn.callers.fetch_add(1, std::memory_order_relaxed)) {}
  ~Caller() { turn.callers.fetch_sub(1, std::memory_order_relaxed); }
  Caller(const Caller &) = delete;
  Caller &operator=(const Caller &) = delete;
  bool isAlone() const { return others == 0; }

  Turn &turn;
  const int others;
};

/// How often this process and those that it descends from have forked since the first pool.
std::atomic<int> forks{0};

/// The threads that held the turn are not in the child.
void afterFork() {
  turn = new Turn;
  insideJob = false;
  forks.fetch_add(1, std::memory_order_relaxed);
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

struct Scratch {
  void *data = nullptr;
  size_t size = 0;
  MemoryShare share;
  ~Scratch() { release(); }
  void release() {
    std::free(std::exchange(data, nullptr));
    size = 0;
    share = MemoryShare();
  }
  /// A page is the least that is taken.
  void allocate(size_t bytes) {
    if (bytes > static_cast<size_t>(memoryLimit()))
      throw std::bad_alloc();
    size_t rounded = (bytes + 4095) / 4096 * 4096;
    Result<MemoryShare> taken = MemoryShare::take(static_cast<int64_t>(rounded));
    data = taken ? std::aligned_alloc(64, rounded) : nullptr;
    if (!data)
      throw std::bad_alloc();
    size = rounded;
    share = std::move(*taken);
  }
};

} // namespace

ThreadPool::ThreadPool(int threads) : threads_(std::max(threads, 1)) {
  static const int registered = pthread_atfork(nullptr, nullptr, afterFork);
  static_cast<void>(registered);
  ranges_ = std::make_unique<Range[]>(threads_);
  sleepers_ = std::make_unique<SleepingThread[]>(threads_ - 1);
  // A thread that spins on a core which another needs only delays it.
  spins_ = threads_ <= static_cast<int>(std::thread::hardware_concurrency()) ? kSpins : 0;
  forks_ = forks.load(std::memory_order_relaxed);
  startThreads();
}

/// None if not all of them can be started, which throws.
void ThreadPool::startThreads() {
  try {
    workers_.reserve(threads_ - 1);
    for (int i = 1; i < threads_; ++i)
      workers_.emplace_back([this, i] { workerLoop(i); });
  } catch (...) {
    stopThreads();
    throw;
  }
}

void ThreadPool::stopThreads() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
  workers_.clear();
  stop_.store(false, std::memory_order_relaxed);
}

/// Whether the threads are there. Starts them in a process that was forked; who calls meanwhile does without.
bool ThreadPool::isOfThisProcess() {
  int now = forks.load(std::memory_order_relaxed), seen = forks_.load(std::memory_order_acquire);
  if (seen == now)
    return true;
  if (seen == -1 || !forks_.compare_exchange_strong(seen, -1))
    return false;
  new std::vector<std::thread>(std::move(workers_)); // leaked: there are no such threads to join
  workers_.clear();
  members_.store(0, std::memory_order_relaxed);
  asleep_.store(0, std::memory_order_relaxed);
  std::for_each_n(sleepers_.get(), threads_ - 1, [](SleepingThread &sleeper) { sleeper.forget(); });
  try {
    startThreads();
  } catch (const std::exception &) { // then callers do without: they take all parts themselves
  }
  forks_.store(now, std::memory_order_release);
  return true;
}

ThreadPool::~ThreadPool() {
  if (forks_.load() != forks.load()) { // forked, and not called since
    new std::vector<std::thread>(std::move(workers_));
    return;
  }
  stopThreads();
}

void *ThreadPool::scratch(size_t bytes, int slot) {
  thread_local Scratch slots[kScratchSlots];
  Scratch &scratch = slots[slot];
  if (scratch.size < bytes) {
    scratch.release();
    scratch.allocate(bytes);
  }
  return scratch.data;
}

void ThreadPool::run(int64_t parts, PartFunction function, const void *body) {
  if (parts <= 1 || threads_ == 1 || insideJob || !isOfThisProcess())
    return runAlone(parts, function, body);
  Caller caller(*turn);
  if (!caller.isAlone() || !caller.turn.busy.try_lock())
    return runAlone(parts, function, body);
  insideJob = true;
  publish(parts, function, body);
  takeParts(0);
  // Closed: who has not joined by now finds nothing to do, so a sleeper never holds the job up.
  members_.fetch_sub(kOpen, std::memory_order_relaxed);
  for (int i = 0; members_.load(std::memory_order_acquire) != 0; ++i)
    i < spins_ ? pause() : std::this_thread::yield();
  insideJob = false;
  std::exception_ptr failure = hasFailed_.exchange(false) ? std::exchange(failure_, nullptr) : nullptr;
  caller.turn.busy.unlock();
  if (failure)
    std::rethrow_exception(failure);
}

void ThreadPool::runAlone(int64_t parts, PartFunction function, const void *body) {
  for (int64_t part = 0; part < parts; ++part)
    function(body, part);
}

void ThreadPool::publish(int64_t parts, PartFunction function, const void *body) {
  function_ = function;
  body_.store(body, std::memory_order_relaxed);
  for (int i = 0, count = threads(); i < count; ++i) {
    ranges_[i].next.store(parts * i / count, std::memory_order_relaxed);
    ranges_[i].end = parts * (i + 1) / count;
  }
  members_.store(kOpen, std::memory_order_release);
  if (asleep_.load(std::memory_order_relaxed) > 0)
    for (int i = 0, core = sched_getcpu(); i < threads_ - 1; ++i)
      sleepers_[i].placeAwayFrom(core);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
}

void ThreadPool::takeParts(int home) noexcept {
  const void *body = body_.load(std::memory_order_relaxed);
  try {
    for (int i = 0, count = threads(); i < count; ++i) {
      Range &range = ranges_[(home + i) % count];
      while (range.next.load(std::memory_order_relaxed) < range.end) {
        int64_t part = range.next.fetch_add(1, std::memory_order_relaxed);
        if (part < range.end)
          function_(body, part);
      }
    }
  } catch (...) {
    failJob(std::current_exception());
  }
}

/// Nobody takes the parts that are left.
void ThreadPool::failJob(std::exception_ptr failure) noexcept {
  if (!hasFailed_.exchange(true))
    failure_ = std::move(failure);
  for (int i = 0, count = threads(); i < count; ++i)
    ranges_[i].next.store(ranges_[i].end, std::memory_order_relaxed);
}

/// All at once what the caller has just written: one after the other these lines take as long as a small
/// part. What a body reads lies, as a rule, in its caller's frame; it may be that of a job that is over.
void ThreadPool::fetchJob(int home) const {
  constexpr int kFrameBytes = 1024;
  __builtin_prefetch(&members_, /*for a write*/ 1);
  __builtin_prefetch(&ranges_[home], 1);
  const auto *body = static_cast<const char *>(body_.load(std::memory_order_relaxed));
  for (int byte = 0; byte < kFrameBytes; byte += 64)
    __builtin_prefetch(body + byte);
}

bool ThreadPool::join() {
  int members = members_.load(std::memory_order_relaxed);
  while (members & kOpen)
    if (members_.compare_exchange_weak(members, members + 1, std::memory_order_acquire))
      return true;
  return false;
}

int ThreadPool::waitForJob(int seen, SleepingThread &self) {
  using Clock = std::chrono::steady_clock;
  for (auto end = Clock::now() + kSpinTime; spins_ > 0 && Clock::now() < end;)
    for (int i = 0; i < kSpinsOfLook; ++i) {
      int now = generation_.load(std::memory_order_acquire);
      if (now != seen)
        return now;
      pause();
    }
  if (spins_ > 0)
    sleepToBePlaced(seen, self);
  else // there are fewer cores than threads, so none is better than another
    generation_.wait(seen, std::memory_order_acquire);
  return generation_.load(std::memory_order_acquire);
}

/// Until there is another job; who publishes it says where the thread wakes up.
void ThreadPool::sleepToBePlaced(int seen, SleepingThread &self) {
  self.fallAsleep();
  asleep_.fetch_add(1, std::memory_order_relaxed);
  generation_.wait(seen, std::memory_order_acquire);
  asleep_.fetch_sub(1, std::memory_order_relaxed);
  self.wakeUp();
}

void ThreadPool::workerLoop(int home) {
  StandardFloats floats;
  insideJob = true;
  for (int seen = 0;;) {
    seen = waitForJob(seen, sleepers_[home - 1]);
    if (stop_.load(std::memory_order_relaxed))
      return;
    fetchJob(home);
    if (join()) {
      takeParts(home);
      members_.fetch_sub(1, std::memory_order_release);
    }
  }
}

} // namespace torchere::cpu
