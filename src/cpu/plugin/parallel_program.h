// ParallelProgram: a program of several processes, each with a plan and a thread of its own.
#pragma once

#include "cpu/plugin/program.h"

namespace torchere::cpu {

class ParallelProgram final : public pjrt_server::Program {
public:
  /// By process, of which there are several; each has a plan.
  ParallelProgram(std::vector<std::unique_ptr<const CpuProgram>> processes, const Target &target)
      : processes(std::move(processes)), target(target) {}

  const interpreter::EntryPoint &entry() const final { return processes.front()->entry(); }
  Result<pjrt_server::ResultLists> run(const pjrt_server::ArgumentLists &arguments) const final;
  std::string stored() const final;
  int64_t temporaryBytes() const final { return processes.front()->temporaryBytes(); }

private:
  std::vector<std::unique_ptr<const CpuProgram>> processes;
  Target target;
};

/// The program for all processes of the target, each with a plan of its own if there are several and all can
/// be planned. Logs the plans, which share what the family has.
Result<std::unique_ptr<const pjrt_server::Program>> compileProgram(const ModuleSource &read, Target target,
                                                                   const Context &context,
                                                                   const std::shared_ptr<PlanFamily> &family);

} // namespace torchere::cpu
