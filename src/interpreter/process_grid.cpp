// Implements turn-taking.
#include "interpreter/process_grid.h"

#include "base/guarded.h"

namespace torchere::interpreter {

class ProcessGrid::Task {
public:
  size_t index = 0;
  Program program;
  std::function<bool()> isReady = [] { return true; };
  bool isDone = false;
  Result<Values> result;
  std::condition_variable turn;
  std::thread thread; ///< none for the first task, which runs in the caller's thread
};

ProcessGrid::ProcessGrid(int64_t replicas, int64_t partitions)
    : replicaCount(replicas), partitionCount(partitions) {
  tasks.push_back(std::make_unique<Task>());
  current = tasks.front().get();
}

ProcessGrid::~ProcessGrid() {
  waitForAll();
  for (const auto &task : tasks)
    if (task->thread.joinable())
      task->thread.join();
}

void ProcessGrid::waitForAll() {
  for (size_t index = 1; index < tasks.size(); ++index) { // a task may start others
    Task &task = *tasks[index];
    wait([&] { return task.isDone; });
  }
}

Status ProcessGrid::finishAll() {
  waitForAll();
  return firstFailed ? Status(tl::unexpected<Error>(firstFailed->result.error())) : Status();
}

Result<Values> ProcessGrid::runAll(std::vector<Program> programs) {
  std::vector<Task *> started;
  for (Program &program : programs)
    started.push_back(&start(std::move(program)));
  TORCHERE_TRY(finishAll());
  Values results;
  for (Task *task : started)
    results.insert(results.end(), task->result->begin(), task->result->end());
  return results;
}

ProcessGrid::Task &ProcessGrid::start(Program program) {
  Task &task = *tasks.emplace_back(std::make_unique<Task>());
  task.index = tasks.size() - 1;
  task.program = std::move(program);
  try {
    task.thread = std::thread([this, &task] { run(task); });
  } catch (const std::exception &exception) {
    end(task, fail(ErrorCode::ResourceExhausted, "no thread for task {} of the program: {}", task.index,
                   exception.what()));
  }
  return task;
}

void ProcessGrid::end(Task &task, Result<Values> result) {
  task.result = std::move(result);
  task.program = nullptr;
  if (!task.result && !firstFailed)
    firstFailed = &task;
  task.isDone = true;
}

void ProcessGrid::run(Task &task) {
  {
    std::unique_lock lock(mutex);
    task.turn.wait(lock, [&] { return current == &task; });
  }
  end(task, guarded(task.program));
  handOver();
}

/// Hands control to the next task, in order, that can run. If all of them wait for values, they are told that
/// none will come.
void ProcessGrid::handOver() {
  size_t from = current->index;
  Task *next = nullptr;
  while (!next) {
    for (size_t step = 1; step <= tasks.size() && !next; ++step) {
      Task &task = *tasks[(from + step) % tasks.size()];
      if (!task.isDone && task.isReady())
        next = &task;
    }
    isStuck = isStuck || !next;
  }
  std::lock_guard lock(mutex);
  current = next;
  next->turn.notify_one();
}

void ProcessGrid::wait(std::function<bool()> isReady) {
  if (isReady())
    return;
  Task &self = *current;
  self.isReady = std::move(isReady);
  handOver();
  std::unique_lock lock(mutex);
  self.turn.wait(lock, [&] { return current == &self; });
}

Result<Values> ProcessGrid::finish(Task &task) {
  wait([&] { return task.isDone; });
  return task.result;
}

void ProcessGrid::send(const std::string &mailbox, Values values) {
  mailboxes[mailbox].push_back(std::move(values));
}

Result<Values> ProcessGrid::receive(const std::string &mailbox) {
  std::deque<Values> &letters = mailboxes[mailbox];
  wait([&] { return !letters.empty() || isStuck; });
  if (letters.empty())
    return fail(ErrorCode::FailedPrecondition, "nobody sends what the process waits for");
  Values values = std::move(letters.front());
  letters.pop_front();
  return values;
}

} // namespace torchere::interpreter
