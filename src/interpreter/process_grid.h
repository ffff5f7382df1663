// ProcessGrid: the processes of an interpreted program, which run in turns and send each other values.
//
// A process is a replica of a partition (the specification's section "Parallel execution"). Each task has a
// thread of its own, but only one runs at a time, until it waits for something or ends: MLIR's context is for
// one thread, and runs are the same every time.
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

  /// The caller is the first task: it runs whenever it does not wait for another.
  ProcessGrid(int64_t replicas, int64_t partitions);
  ~ProcessGrid();
  ProcessGrid(const ProcessGrid &) = delete;

  int64_t replicas() const { return replicaCount; }
  int64_t partitions() const { return partitionCount; }

  // What follows is for tasks of the grid.

  /// A program that runs while others wait.
  Task &start(Program program);
  /// Waits for the task's end.
  Result<Values> finish(Task &task);
  /// Leaves values in a mailbox, which keeps them in order.
  void send(const std::string &mailbox, Values values);
  /// Takes values out of a mailbox, or waits for them. FailedPrecondition when all tasks wait.
  Result<Values> receive(const std::string &mailbox);
  /// Runs programs to their ends: their results, one after the other, or the error of the one that failed
  /// first.
  Result<Values> runAll(std::vector<Program> programs);
  /// Lets every task come to its end. The error of the one that failed first, if one did.
  Status finishAll();

private:
  void wait(std::function<bool()> isReady);
  void handOver();
  void run(Task &task);

  int64_t replicaCount, partitionCount;
  std::vector<std::unique_ptr<Task>> tasks;
  std::map<std::string, std::deque<Values>> mailboxes;
  std::optional<Error> firstError;
  bool isStuck = false; ///< all tasks wait for each other
  std::mutex mutex;     ///< of `current`
  Task *current;
};

} // namespace torchere::interpreter
