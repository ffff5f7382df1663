// Worker: the thread that does what a client was asked for, in the order in which it was asked.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace torchere::interpreter_plugin {

/// A task finds what earlier tasks made: nothing waits within one, so that one thread is enough.
class Worker {
public:
  Worker();
  /// Waits for the tasks, unless it is one of them that lets go of the worker last.
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  void add(std::function<void()> task);

private:
  struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool isClosed = false;
  };
  static void run(const std::shared_ptr<Queue> &queue);

  std::shared_ptr<Queue> queue;
  std::thread thread;
};

} // namespace torchere::interpreter_plugin
