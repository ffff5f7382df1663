// From the bytes of a program to its plan.
#pragma once

#include "base/error.h"
#include "cpu/plan/plan.h"
#include "interpreter/entry_point.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace torchere::cpu {

class EvaluatedModule;

/// What is computed from weights and constants alone: the further arguments of the plan.
struct WeightProgram {
  /// Its arguments are the entry's. Values that are only packed lie in its arena until they are.
  Plan plan;
  std::vector<size_t> arguments; ///< that it reads
  std::vector<bool> isKept;      ///< by value: whether steps read it, beyond Step::prepare()
  /// Equal for equal programs, among modules of one context; empty if there are no others in it.
  std::string key;
};

/// A program as the engine runs it. Without a plan the interpreter runs it as a whole: it has sizes that
/// depend on data, or communicates with what is outside of it.
struct CompiledModule {
  interpreter::EntryPoint entry;
  std::shared_ptr<EvaluatedModule> module; ///< which evaluating steps refer to
  std::optional<Plan> plan;
  std::shared_ptr<const WeightProgram> weights;
  /// Steps of the plan to be prepared: after each step of the weight program, and after all of them.
  std::vector<std::vector<const Step *>> packers;
  std::vector<bool> isWeight; ///< by argument: marked, and never written
  std::string reason;         ///< why there is no plan
};

/// What a program is compiled for.
struct Target {
  interpreter::ProcessCounts processes;
  int64_t process = 0; ///< the one that runs the plan: replica * partitions + partition
  Isa isa = Isa::Baseline;
  bool isFlat = false; ///< the module has been through flattenOpen()
  int stage = 0;       ///< how often it was cut before: see StagedModule
  /// Held by who uses the context of the program's modules.
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
};

/// `code` is StableHLO, as text or as a portable artifact.
Result<stablehlo::Module> readModule(std::string_view code);
/// Makes the entry function the module's only one, without calls, and simple, whatever its types. Whether
/// that could be done: if not, the module means the same as before.
bool flattenOpen(stablehlo::Module &module, std::string_view entry);
/// Fuses in such a module what needs no sizes: only plans are made of it from then on.
void fuseOpen(stablehlo::Module &module, std::string_view entry);

/// What a module is made for. The interpreter has none of the engine's kernels.
enum class ModuleUse { Plan, Interpretation };
/// Makes the same module again whenever it is called. The types of its entry function are static.
using ModuleSource = std::function<Result<stablehlo::Module>(ModuleUse)>;
/// Errors are the source's and those of interpreter::describeEntry().
Result<CompiledModule> compileModule(const ModuleSource &read, const Target &target);

/// Runs the program without a plan, one thread at a time.
Result<std::vector<std::vector<interpreter::Tensor>>>
interpretWhole(const CompiledModule &compiled, interpreter::ProcessCounts processes,
               std::vector<std::vector<interpreter::Tensor>> inputs);

} // namespace torchere::cpu
