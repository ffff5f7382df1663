// Implements tasks: threads start when tasks wait, and stay.
#include "ffi/task_pool.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace torchere::ffi {

namespace {

class TaskPool {
public:
  void schedule(abi::Task *task, void *data, int64_t most) {
    std::unique_lock lock(mutex);
    tasks.push_back({task, data});
    if (static_cast<int64_t>(tasks.size()) > idle && threads < most) {
      ++threads;
      std::thread([this] { work(); }).detach();
    }
    lock.unlock();
    added.notify_one();
  }

private:
  struct Item {
    abi::Task *task;
    void *data;
  };

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      ++idle;
      added.wait(lock, [this] { return !tasks.empty(); });
      --idle;
      Item item = tasks.front();
      tasks.pop_front();
      lock.unlock();
      item.task(item.data);
      lock.lock();
    }
  }

  std::mutex mutex;
  std::condition_variable added;
  std::deque<Item> tasks;
  int64_t idle = 0, threads = 0;
};

/// Never destroyed: its threads wait until the process ends. A forked process has none of them, and gets its
/// own.
TaskPool &pool() {
  static std::mutex mutex;
  static TaskPool *current = nullptr;
  static pid_t process = 0;
  std::lock_guard lock(mutex);
  if (process != getpid()) {
    current = new TaskPool;
    process = getpid();
  }
  return *current;
}

} // namespace

void scheduleTask(abi::Task *task, void *data, int64_t threads) {
  pool().schedule(task, data, threads);
}

} // namespace torchere::ffi
