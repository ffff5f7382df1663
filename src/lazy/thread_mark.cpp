// The numbers of threads.
#include "lazy/thread_mark.h"

#include <torch/csrc/autograd/function.h>

#include <mutex>
#include <unordered_set>

namespace torchere::lazy {

namespace {

/// Never destroyed: threads may end after everything else.
struct LivingThreads {
  std::mutex mutex;
  std::unordered_set<ThreadMark> marks;
  ThreadMark last = sharedThread;
};
LivingThreads &livingThreads() {
  static auto *threads = new LivingThreads;
  return *threads;
}

struct OwnMark {
  ThreadMark mark = sharedThread;

  void take() {
    LivingThreads &threads = livingThreads();
    std::lock_guard lock(threads.mutex);
    mark = ++threads.last;
    threads.marks.insert(mark);
  }
  ~OwnMark() {
    if (mark == sharedThread)
      return;
    LivingThreads &threads = livingThreads();
    std::lock_guard lock(threads.mutex);
    threads.marks.erase(mark);
  }
};

thread_local OwnMark own;

} // namespace

/// Autograd's threads run nothing but nodes of its graph.
ThreadMark currentThread() {
  if (own.mark == sharedThread && !torch::autograd::get_current_node())
    own.take();
  return own.mark;
}

bool isAlive(ThreadMark thread) {
  LivingThreads &threads = livingThreads();
  std::lock_guard lock(threads.mutex);
  return threads.marks.contains(thread);
}

} // namespace torchere::lazy
