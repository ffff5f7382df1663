// CpuProgram: a compiled program with the memory that its runs use.
#pragma once

#include "cpu/frontend/compile.h"
#include "pjrt_server/program.h"

#include <mutex>

namespace torchere::cpu {

class CpuProgram final : public pjrt_server::Program {
public:
  CpuProgram(CompiledModule compiled, interpreter::ProcessCounts processes, const Context &context);

  const interpreter::EntryPoint &entry() const final { return compiled.entry; }
  Result<pjrt_server::ResultLists> run(const pjrt_server::ArgumentLists &arguments) const final;
  bool hasPlan() const { return compiled.plan.has_value(); }
  int64_t temporaryBytes() const final { return compiled.plan ? compiled.plan->arenaBytes : 0; }
  /// Runs the plan, of one of several processes if these meet there.
  Result<std::vector<interpreter::Tensor>> runPlan(const std::vector<pjrt_server::Argument> &arguments,
                                                   Rendezvous *rendezvous = nullptr) const;

private:
  /// What one run has for itself; kept for the next.
  struct Workspace {
    Memory arena;
    std::vector<Memory> buffers;     ///< instead of the arena: see Poison
    std::vector<std::byte *> memory; ///< by buffer; those of arguments and results are the run's
  };

  Result<Workspace> takeWorkspace() const;
  Result<std::vector<interpreter::Tensor>> prepare(const std::vector<pjrt_server::Argument> &arguments,
                                                   Workspace &workspace) const;

  CompiledModule compiled;
  interpreter::ProcessCounts processes;
  Context context;
  mutable std::mutex mutex;
  mutable std::vector<Workspace> workspaces;
};

/// Tells the log of the steps, or why there are none.
void logPlan(const CompiledModule &compiled);

} // namespace torchere::cpu
