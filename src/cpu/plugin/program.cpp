// Implements the run of a program.
#include "cpu/plugin/program.h"

#include "base/log.h"
#include "cpu/execute/packed_region.h"
#include "cpu/kernels/float_environment.h"
#include "cpu/plan/poison.h"
#include "cpu/plugin/profile.h"
#include "cpu/plugin/stored_program.h"

#include <map>

namespace torchere::cpu {

using interpreter::Tensor;
using pjrt_server::Argument;
using pjrt_server::ArgumentLists;
using pjrt_server::ResultLists;

CpuProgram::CpuProgram(CompiledModule module, interpreter::ProcessCounts processes, const Context &context,
                       std::shared_ptr<PlanFamily> given)
    : compiled(std::move(module)), processes(processes), context(context), family(std::move(given)),
      weightSets(family->weightSetsOf(compiled, context)) {}

Result<CpuProgram::Workspace> CpuProgram::makeWorkspace() const {
  const Plan &plan = *compiled.plan;
  Workspace made;
  for (const Buffer &buffer : plan.buffers) {
    std::byte *memory = nullptr;
    if (buffer.home == Home::Arena && poisonMode() == Poison::Buffers) {
      TORCHERE_ASSIGN(Memory own, allocateMemory(buffer.bytes));
      memory = made.buffers.emplace_back(std::move(own)).get();
    } else if (buffer.home == Home::Constant) {
      memory = plan.constants[buffer.index].get();
    }
    made.memory.push_back(memory);
  }
  return made;
}

Result<CpuProgram::Workspace> CpuProgram::takeWorkspace() const {
  std::optional<Workspace> workspace;
  {
    std::lock_guard lock(mutex);
    if (!workspaces.empty()) {
      workspace = std::move(workspaces.back());
      workspaces.pop_back();
    }
  }
  if (!workspace) {
    TORCHERE_ASSIGN(workspace, makeWorkspace());
  }
  const Plan &plan = *compiled.plan;
  if (poisonMode() != Poison::Buffers) {
    TORCHERE_ASSIGN(workspace->arena, family->arenas.take(plan.arenaBytes));
    std::byte *base = workspace->arena.memory.get();
    if (std::exchange(workspace->base, base) == base)
      return *std::move(workspace);
    for (size_t id = 0; id < plan.buffers.size(); ++id)
      if (const Buffer &buffer = plan.buffers[id]; buffer.home == Home::Arena)
        workspace->memory[id] = base + buffer.offset;
  }
  placeParts(plan, workspace->memory);
  return *std::move(workspace);
}

void CpuProgram::putBack(Workspace workspace) const {
  workspace.arguments.clear();
  workspace.copies.clear();
  if (workspace.arena.memory)
    family->arenas.putBack(std::move(workspace.arena));
  workspace.arena = {};
  std::lock_guard lock(mutex);
  workspaces.push_back(std::move(workspace));
}

Result<CpuProgram::Tensors> CpuProgram::prepare(const Arguments &arguments, const WeightSet *set,
                                                Workspace &workspace) const {
  const Plan &plan = *compiled.plan;
  for (size_t index = 0; index < arguments.size(); ++index) {
    Argument &argument = workspace.arguments.emplace_back(arguments[index]);
    if (plan.writtenArguments[index] && !argument.mayBeOverwritten) {
      TORCHERE_ASSIGN(Tensor copy, argument.tensor->clone());
      argument.tensor = &workspace.copies.emplace_back(std::move(copy));
    }
  }
  Tensors results(plan.results.size());
  for (size_t id = 0; id < plan.buffers.size(); ++id) {
    const Buffer &buffer = plan.buffers[id];
    if (buffer.home == Home::Argument && buffer.index >= arguments.size()) {
      workspace.memory[id] = set->values[buffer.index - arguments.size()];
    } else if (buffer.home == Home::Argument) {
      workspace.memory[id] = workspace.arguments[buffer.index].memory();
    } else if (buffer.home == Home::Result) {
      TORCHERE_ASSIGN(std::shared_ptr<std::byte[]> memory, pool->take(buffer.bytes));
      workspace.memory[id] = memory.get();
      const pjrt_server::TensorType &type = compiled.entry.results[buffer.index];
      results[buffer.index] = Tensor::over(type.elementType, type.shape, std::move(memory));
    }
    if (buffer.home == Home::Result || buffer.home == Home::Arena)
      poison(workspace.memory[id], buffer.bytes);
  }
  for (size_t index = 0; index < results.size(); ++index)
    if (const Buffer &buffer = plan.buffers[plan.results[index]]; buffer.home == Home::Argument)
      results[index] = *workspace.arguments[buffer.index].tensor;
  return results;
}

Result<CpuProgram::Tensors> CpuProgram::runPlan(const Arguments &arguments, Rendezvous *rendezvous,
                                                Recorder *recorder) const {
  StandardFloats floats;
  PackedRegion region;
  std::shared_ptr<const WeightSet> set;
  if (weightSets) {
    TORCHERE_ASSIGN(set, weightSets->find(arguments, weightUser));
  }
  TORCHERE_ASSIGN(Workspace workspace, takeWorkspace());
  Result<Tensors> results = prepare(arguments, set.get(), workspace);
  if (results) {
    setOrigins(compiled, arguments, set.get(), workspace.origins);
    Frame frame{context, std::move(workspace.memory), workspace.origins, rendezvous, recorder};
    if (Status status = runSteps(compiled.plan->steps, frame); !status)
      results = tl::unexpected(std::move(status).error());
    workspace.memory = std::move(frame.memory);
  }
  putBack(std::move(workspace));
  return results;
}

std::string CpuProgram::stored() const {
  return compiled.plan ? storePlan(compiled, context.isa) : std::string();
}

void CpuProgram::log() const {
  if (!compiled.plan) {
    TORCHERE_LOG_LINE(Info, "cpu", "[{}] is interpreted as a whole: {}", compiled.entry.name,
                      compiled.reason);
    return;
  }
  std::map<std::string, int64_t> counts = compiled.plan->evaluated;
  if (compiled.weights)
    for (const auto &[name, count] : compiled.weights->plan.evaluated)
      counts[name] += count;
  std::string evaluated;
  for (const auto &[name, count] : counts)
    evaluated += fmt::format(" {}={}", name, count);
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] {} steps, {} bytes of memory of their own; evaluated:{}",
                    compiled.entry.name, compiled.plan->steps.size(), compiled.plan->arenaBytes,
                    evaluated.empty() ? " none" : evaluated);
  if (compiled.weights)
    TORCHERE_LOG_LINE(Debug, "cpu", "[{}] {} steps on weights alone, for {} values", compiled.entry.name,
                      compiled.weights->plan.steps.size(), compiled.weights->plan.results.size());
}

Result<ResultLists> CpuProgram::profile(const ArgumentLists &arguments, std::string &report) const {
  if (!compiled.plan)
    return fail(ErrorCode::Unimplemented, "[{}] no profile of a program that is interpreted as a whole: {}",
                compiled.entry.name, compiled.reason);
  Profile profile(compiled, context);
  ResultLists results;
  TORCHERE_ASSIGN(Tensors ofProcess, runPlan(arguments.front(), nullptr, &profile));
  results.push_back(std::move(ofProcess));
  report = profile.report();
  return results;
}

Result<ResultLists> CpuProgram::run(const ArgumentLists &arguments) const {
  ResultLists results;
  if (compiled.plan) {
    TORCHERE_ASSIGN(Tensors ofProcess, runPlan(arguments.front(), nullptr));
    results.push_back(std::move(ofProcess));
    return results;
  }
  std::vector<std::vector<Tensor>> inputs;
  for (const std::vector<Argument> &ofProcess : arguments) {
    inputs.emplace_back();
    for (const Argument &argument : ofProcess)
      inputs.back().push_back(*argument.tensor);
  }
  return interpretWhole(compiled, processes, std::move(inputs));
}

} // namespace torchere::cpu
