// From the bytes of a program to its plan.
#pragma once

#include "base/error.h"
#include "cpu/plan/plan.h"
#include "interpreter/entry_point.h"

#include <functional>
#include <optional>
#include <string>

namespace torchere::cpu {

class EvaluatedModule;

/// What is computed from weights and constants alone: the further arguments of the plan.
struct WeightProgram {
  Plan plan;                     ///< its arguments are the entry's
  std::vector<size_t> arguments; ///< that it reads
};

/// A program as the engine runs it. Without a plan the interpreter runs it as a whole: it has sizes that
/// depend on data, tokens or tuples, or several processes.
struct CompiledModule {
  interpreter::EntryPoint entry;
  std::shared_ptr<EvaluatedModule> module; ///< which evaluating steps refer to
  std::optional<Plan> plan;
  std::optional<WeightProgram> weights;
  std::vector<bool> isWeight; ///< by argument: marked, and never written
  std::string reason;         ///< why there is no plan
};

/// `code` is StableHLO, as text or as a portable artifact. Errors are the readers' and those of
/// interpreter::describeEntry().
Result<CompiledModule> compileModule(std::string_view code, interpreter::ProcessCounts processes, Isa isa);

/// Runs the program without a plan, one thread at a time.
Result<std::vector<std::vector<interpreter::Tensor>>>
interpretWhole(const CompiledModule &compiled, interpreter::ProcessCounts processes,
               std::vector<std::vector<interpreter::Tensor>> inputs);

} // namespace torchere::cpu
