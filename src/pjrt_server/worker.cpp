// Implements the worker's queue.
#include "pjrt_server/worker.h"

namespace torchere::pjrt_server {

Worker::Worker() : queue(std::make_shared<Queue>()), thread([queue = queue] { run(queue); }) {}

Worker::~Worker() {
  {
    std::lock_guard lock(queue->mutex);
    queue->isClosed = true;
    queue->changed.notify_all();
  }
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else
    thread.join();
}

void Worker::add(std::function<void()> task) {
  std::lock_guard lock(queue->mutex);
  queue->tasks.push_back(std::move(task));
  queue->changed.notify_all();
}

bool Worker::isIdle() const {
  std::lock_guard lock(queue->mutex);
  return !queue->isRunning && queue->tasks.empty();
}

void Worker::run(const std::shared_ptr<Queue> &queue) {
  std::unique_lock lock(queue->mutex);
  for (;;) {
    queue->changed.wait(lock, [&] { return queue->isClosed || !queue->tasks.empty(); });
    if (queue->tasks.empty())
      return;
    std::function<void()> task = std::move(queue->tasks.front());
    queue->tasks.pop_front();
    queue->isRunning = true;
    lock.unlock();
    task();
    task = nullptr; // what it holds is destroyed outside the lock
    lock.lock();
    queue->isRunning = false;
  }
}

} // namespace torchere::pjrt_server
