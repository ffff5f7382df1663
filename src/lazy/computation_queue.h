// ComputationQueue: a thread that runs computations in order, while the others go on tracing.
#pragma once

#include "lazy/computation.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace torchere::lazy {

/// Lives until the process ends, which waits for what still runs.
class ComputationQueue {
public:
  ComputationQueue();

  /// Takes a computation that is prepared. Waits where the thread is behind: what is queued keeps its inputs
  /// in memory.
  void push(std::unique_ptr<Computation> computation);
  /// Runs it in the caller's thread if nothing is queued, otherwise as push().
  void runOrPush(std::unique_ptr<Computation> computation);
  void wait();
  /// Computations that are not finished.
  int64_t size();

private:
  void work();

  static constexpr size_t limit = 2;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<Computation>> queued;
  size_t unfinished = 0;
  bool isStarted = false;
};

} // namespace torchere::lazy
