// Worker: the thread that carries out a client's tasks, in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace torchere::pjrt_server {

/// A task uses only the results of earlier tasks and never waits for later ones, so one thread is enough.
class Worker {
public:
  Worker();
  /// Waits for the tasks, unless the last owner of the worker is one of them.
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  void add(std::function<void()> task);
  /// Whether all tasks are done.
  bool isIdle() const;

private:
  struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool isRunning = false;
    bool isClosed = false;
  };
  static void run(const std::shared_ptr<Queue> &queue);

  std::shared_ptr<Queue> queue;
  std::thread thread;
};

} // namespace torchere::pjrt_server
