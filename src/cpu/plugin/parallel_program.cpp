// Implements the run of processes, which meet where they exchange values.
#include "cpu/plugin/parallel_program.h"

#include "base/log.h"
#include "cpu/execute/rendezvous.h"
#include "cpu/plugin/staged_program.h"
#include "cpu/plugin/stored_program.h"
#include "cpu/plugin/thread_clock.h"
#include "pjrt/plugin_table.h"

#include <thread>

namespace torchere::cpu {

using interpreter::Tensor;
using pjrt_server::ResultLists;

/// Starts work(process) for all processes but the first. ResourceExhausted if the system gives fewer threads.
template <class Work>
static Status startThreads(std::vector<std::jthread> &threads, size_t processes, const Work &work) {
  try {
    threads.reserve(processes - 1);
    while (threads.size() + 1 < processes)
      threads.emplace_back(work, threads.size() + 1);
  } catch (const std::exception &exception) {
    return fail(ErrorCode::ResourceExhausted, "no thread for process {} of {}: {}", threads.size() + 1,
                processes, exception.what());
  }
  return {};
}

Result<ResultLists> ParallelProgram::run(const pjrt_server::ArgumentLists &arguments) const {
  Rendezvous rendezvous(processes.size());
  ResultLists results(processes.size());
  std::vector<Status> statuses(processes.size());
  auto work = [&](size_t process) {
    statuses[process] = guarded([&]() -> Status {
      TORCHERE_ASSIGN(results[process], processes[process]->runPlan(arguments[process], &rendezvous));
      return {};
    });
    rendezvous.leave();
  };
  Status complete;
  {
    std::vector<std::jthread> threads;
    complete = startThreads(threads, processes.size(), work);
    if (complete)
      work(0);
    for (size_t absent = threads.size(); !complete && absent < processes.size(); ++absent)
      rendezvous.leave(); // process 0, and those without a thread
  }
  TORCHERE_TRY(complete);
  const Status *failure = nullptr;
  for (const Status &status : statuses) // that others then wait in vain is no cause
    if (!status && (!failure || failure->error().code == ErrorCode::FailedPrecondition))
      failure = &status;
  if (failure)
    return tl::unexpected(failure->error());
  return results;
}

std::string ParallelProgram::stored() const {
  std::vector<std::string> plans;
  for (const std::unique_ptr<const CpuProgram> &process : processes)
    if (plans.emplace_back(process->stored()).empty())
      return {};
  return storeProcesses(target.processes, plans, target.isa);
}

Result<std::unique_ptr<const pjrt_server::Program>>
compileProgram(const ModuleSource &read, Target target, const Context &context,
               const std::shared_ptr<PlanFamily> &family) {
  ThreadClock clock;
  std::vector<std::unique_ptr<const CpuProgram>> programs;
  int64_t count = target.processes.replicas * target.processes.partitions;
  for (target.process = 0; target.process < count; ++target.process) {
    TORCHERE_ASSIGN(CompiledModule compiled, compileModule(read, target));
    auto program = std::make_unique<const CpuProgram>(std::move(compiled), target.processes, context, family);
    if (count == 1 && !program->hasPlan()) {
      TORCHERE_ASSIGN(auto staged, compileStages(read, program, target, context, family));
      if (staged)
        return staged;
    }
    program->log();
    TORCHERE_LOG_LINE(Debug, "cpu", "[{}] planned in {:.2f} ms", program->entry().name, clock.milliseconds());
    if (count == 1 || !program->hasPlan()) // the interpreter runs all processes
      return program;
    programs.push_back(std::move(program));
  }
  return std::make_unique<const ParallelProgram>(std::move(programs), target);
}

} // namespace torchere::cpu
