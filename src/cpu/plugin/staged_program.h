// StagedProgram: a program with sizes that depend on data, of which each run plans what comes behind them.
#pragma once

#include "cpu/frontend/staged_module.h"
#include "cpu/plugin/open_program.h"

namespace torchere::cpu {

class StagedProgram final : public pjrt_server::Program {
public:
  /// `first` and `rest` are those of a StagedModule. `whole` has no plan: it is run where the rest has none
  /// for the sizes at hand, as where ops that do not run take none of these.
  StagedProgram(std::unique_ptr<const CpuProgram> whole, std::unique_ptr<const CpuProgram> first,
                OpenModule rest, const Context &context)
      : whole(std::move(whole)), first(std::move(first)), rest(std::move(rest), context) {}

  const interpreter::EntryPoint &entry() const final { return whole->entry(); }
  Result<pjrt_server::ResultLists> run(const pjrt_server::ArgumentLists &arguments) const final;
  Result<pjrt_server::ResultLists> profile(const pjrt_server::ArgumentLists &arguments,
                                           std::string &report) const final;
  int64_t temporaryBytes() const final { return first->temporaryBytes(); }

private:
  std::unique_ptr<const CpuProgram> whole, first;
  OpenProgram rest;
};

/// The program in stages instead of `whole`, which has no plan, and of which `read` gives the module. It is
/// left as it is, and the result null, if the module cannot be cut, or what comes first has no plan either.
Result<std::unique_ptr<const pjrt_server::Program>>
compileStages(const ModuleSource &read, std::unique_ptr<const CpuProgram> &whole, const Target &target,
              const Context &context, const std::shared_ptr<PlanFamily> &family);

} // namespace torchere::cpu
