// StagedProgram: a program with sizes that depend on data, of which each run plans what comes behind them.
#pragma once

#include "cpu/frontend/staged_module.h"
#include "cpu/plugin/open_program.h"

namespace torchere::cpu {

class StagedProgram final : public pjrt_server::Program {
public:
  /// `first` and `rest` are those of a StagedModule.
  StagedProgram(interpreter::EntryPoint entry, std::unique_ptr<const CpuProgram> first, OpenModule rest,
                const Context &context)
      : entryPoint(std::move(entry)), first(std::move(first)), rest(std::move(rest), context) {}

  const interpreter::EntryPoint &entry() const final { return entryPoint; }
  Result<pjrt_server::ResultLists> run(const pjrt_server::ArgumentLists &arguments) const final;
  Result<pjrt_server::ResultLists> profile(const pjrt_server::ArgumentLists &arguments,
                                           std::string &report) const final;
  int64_t temporaryBytes() const final { return first->temporaryBytes(); }

private:
  interpreter::EntryPoint entryPoint;
  std::unique_ptr<const CpuProgram> first;
  OpenProgram rest;
};

/// Null if the program cannot be cut, or what comes first has no plan. `entry` is the module's, which one
/// process runs.
Result<std::unique_ptr<const pjrt_server::Program>>
compileStages(const ModuleSource &read, const interpreter::EntryPoint &entry, const Target &target,
              const Context &context, const std::shared_ptr<PlanFamily> &family);

} // namespace torchere::cpu
