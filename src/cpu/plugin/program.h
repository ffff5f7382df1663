// CpuProgram: a compiled program with the memory that its runs use.
#pragma once

#include "cpu/plugin/plan_family.h"
#include "cpu/plugin/result_pool.h"

#include <deque>
#include <mutex>

namespace torchere::cpu {

class CpuProgram final : public pjrt_server::Program {
public:
  CpuProgram(CompiledModule compiled, interpreter::ProcessCounts processes, const Context &context,
             std::shared_ptr<PlanFamily> family = std::make_shared<PlanFamily>());

  const interpreter::EntryPoint &entry() const final { return compiled.entry; }
  Result<pjrt_server::ResultLists> run(const pjrt_server::ArgumentLists &arguments) const final;
  Result<pjrt_server::ResultLists> profile(const pjrt_server::ArgumentLists &arguments,
                                           std::string &report) const final;
  /// For how many sets of weights it has computed what depends on them alone.
  int64_t weightSetCount() const { return weightSets ? weightSets->count() : 0; }
  bool hasPlan() const { return compiled.plan.has_value(); }
  /// Tells of the steps, or why there are none.
  void log() const;
  std::string stored() const final;
  int64_t temporaryBytes() const final { return compiled.plan ? compiled.plan->arenaBytes : 0; }
  using Tensors = std::vector<interpreter::Tensor>;
  using Arguments = std::vector<pjrt_server::Argument>;
  /// Runs the plan: of one of several processes if these meet there, measured if there is a recorder.
  Result<Tensors> runPlan(const Arguments &arguments, Rendezvous *rendezvous = nullptr,
                          Recorder *recorder = nullptr) const;

private:
  /// What one run has for itself; kept for the next.
  struct Workspace {
    Arena arena;                            ///< only during the run
    const std::byte *base = nullptr;        ///< of the arena that `memory` is in
    std::vector<Memory> buffers;            ///< instead of the arena: see Poison
    std::vector<std::byte *> memory;        ///< by buffer; those of arguments and results are the run's
    std::vector<Origin> origins;            ///< by argument
    Arguments arguments;                    ///< only during the run
    std::deque<interpreter::Tensor> copies; ///< of arguments that are written, if others have them
  };

  Result<Workspace> makeWorkspace() const;
  Result<Workspace> takeWorkspace() const;
  void putBack(Workspace workspace) const;
  /// Sets the memory of arguments, weights' values and results. Returns the results.
  Result<Tensors> prepare(const Arguments &arguments, const WeightSet *set, Workspace &workspace) const;

  CompiledModule compiled;
  interpreter::ProcessCounts processes;
  Context context;
  std::shared_ptr<ResultPool> pool = std::make_shared<ResultPool>();
  std::shared_ptr<PlanFamily> family;
  std::shared_ptr<WeightSets> weightSets; ///< null without a weight program
  mutable WeightSets::User weightUser{compiled};
  mutable std::mutex mutex;
  mutable std::vector<Workspace> workspaces;
};

} // namespace torchere::cpu
