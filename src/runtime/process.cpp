// ProcessMark: counts forks in a handler that fork() runs in the child.
#include "runtime/process.h"

#include <atomic>
#include <pthread.h>
#include <unistd.h>

namespace torchere::runtime {

static std::atomic<uint64_t> forkCount = 0;

static void countFork() {
  forkCount.fetch_add(1, std::memory_order_relaxed);
}

ProcessMark::ProcessMark() : process(getpid()) {
  static const int registered = pthread_atfork(nullptr, nullptr, countFork);
  (void)registered;
  generation = forkCount.load(std::memory_order_relaxed);
}

bool ProcessMark::isForked() const {
  return forkCount.load(std::memory_order_relaxed) != generation;
}

Status ProcessMark::error(std::string_view subject) const {
  return fail(ErrorCode::FailedPrecondition,
              "[{}] made before fork() and unusable after it, because a fork has not the plugin's threads: "
              "got process "
              "{}, expected process {}; start processes with the method 'spawn' instead",
              subject, getpid(), process);
}

} // namespace torchere::runtime
