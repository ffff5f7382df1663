// The thread that runs computations.
#include "lazy/computation_queue.h"

#include <unistd.h>

#include <thread>

namespace torchere::lazy {

namespace {

/// Waits for the queues when the process ends, before the libraries are taken down that they use.
struct AtExit {
  std::mutex mutex;
  std::vector<ComputationQueue *> queues;
  const pid_t process = getpid();
  ~AtExit() {
    if (getpid() == process) // a forked process has no threads to wait for
      for (ComputationQueue *queue : queues)
        queue->wait();
  }
};
AtExit atExit;

} // namespace

ComputationQueue::ComputationQueue() {
  std::lock_guard lock(atExit.mutex);
  atExit.queues.push_back(this);
}

void ComputationQueue::push(std::unique_ptr<Computation> computation) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return unfinished < limit; });
  queued.push_back(std::move(computation));
  ++unfinished;
  if (!std::exchange(isStarted, true))
    std::thread([this] { work(); }).detach();
  lock.unlock(); // or who is woken waits for it
  changed.notify_all();
}

void ComputationQueue::runOrPush(std::unique_ptr<Computation> computation) {
  {
    std::unique_lock lock(mutex);
    if (unfinished > 0) {
      lock.unlock();
      return push(std::move(computation));
    }
    ++unfinished;
  }
  computation->run();
  computation.reset();
  std::lock_guard lock(mutex);
  --unfinished;
  changed.notify_all();
}

void ComputationQueue::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return unfinished == 0; });
}

int64_t ComputationQueue::size() {
  std::lock_guard lock(mutex);
  return static_cast<int64_t>(unfinished);
}

void ComputationQueue::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return !queued.empty(); });
    std::unique_ptr<Computation> computation = std::move(queued.front());
    queued.pop_front();
    lock.unlock();
    computation->run();
    computation.reset();
    lock.lock();
    --unfinished;
    changed.notify_all();
  }
}

} // namespace torchere::lazy
