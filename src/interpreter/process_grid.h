// ProcessGrid: the processes of an interpreted program, which take turns and send each other values.
//
// A process is a replica of a partition (the specification's section "Parallel execution"). Each task has its
// own thread, but only one runs at a time, until it waits or ends: MLIR's context is single-threaded, and all
// runs are deterministic.
#pragma once

#include "interpreter/value.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace torchere::interpreter {

struct ProcessId {
  int64_t replica = 0;
  int64_t partition = 0;

  friend bool operator==(const ProcessId &, const ProcessId &) = default;
};

class ProcessGrid {
public:
  using Program = std::function<Result<Values>()>;
  class Task;

  /// The caller is the first task: it runs while it does not wait for another.
  ProcessGrid(int64_t replicas, int64_t partitions);
  ~ProcessGrid();
  ProcessGrid(const ProcessGrid &) = delete;

  int64_t replicas() const { return replicaCount; }
  int64_t partitions() const { return partitionCount; }

  // The members below are for the grid's tasks.

  /// Starts a program that runs while others wait. If the system gives no thread, it has ended: with
  /// ResourceExhausted.
  Task &start(Program program);
  /// Waits for the task to end.
  Result<Values> finish(Task &task);
  /// Puts values into a mailbox, which keeps them in order.
  void send(const std::string &mailbox, Values values);
  /// Takes values from a mailbox, waiting for them if necessary. FailedPrecondition if all tasks wait.
  Result<Values> receive(const std::string &mailbox);
  /// Runs programs to completion. Returns their concatenated results, or the error of the one that failed
  /// first.
  Result<Values> runAll(std::vector<Program> programs);
  /// Runs all tasks to completion. Returns the error of the one that failed first, if any.
  Status finishAll();

private:
  void wait(std::function<bool()> isReady);
  void handOver();
  void run(Task &task);
  void end(Task &task, Result<Values> result);
  void waitForAll();

  int64_t replicaCount, partitionCount;
  std::vector<std::unique_ptr<Task>> tasks;
  std::map<std::string, std::deque<Values>> mailboxes;
  const Task *firstFailed = nullptr;
  bool isStuck = false; ///< all tasks wait for each other
  std::mutex mutex;     ///< guards `current`
  Task *current;
};

} // namespace torchere::interpreter
