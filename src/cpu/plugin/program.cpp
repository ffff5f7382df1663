// Implements the run of a program.
#include "cpu/plugin/program.h"

#include "cpu/plan/poison.h"

namespace torchere::cpu {

using interpreter::Tensor;
using pjrt_server::Argument;
using pjrt_server::ArgumentLists;
using pjrt_server::ResultLists;

CpuProgram::CpuProgram(CompiledModule compiled, interpreter::ProcessCounts processes, const Context &context)
    : compiled(std::move(compiled)), processes(processes), context(context) {}

Result<CpuProgram::Workspace> CpuProgram::takeWorkspace() const {
  {
    std::lock_guard lock(mutex);
    if (!workspaces.empty()) {
      Workspace taken = std::move(workspaces.back());
      workspaces.pop_back();
      return taken;
    }
  }
  const Plan &plan = *compiled.plan;
  Workspace made;
  bool isSplit = poisonMode() == Poison::Buffers;
  TORCHERE_ASSIGN(made.arena, allocateMemory(isSplit ? 0 : plan.arenaBytes));
  for (const Buffer &buffer : plan.buffers) {
    std::byte *memory = nullptr;
    if (buffer.home == Home::Arena && isSplit) {
      TORCHERE_ASSIGN(Memory own, allocateMemory(buffer.bytes));
      memory = made.buffers.emplace_back(std::move(own)).get();
    } else if (buffer.home == Home::Arena)
      memory = made.arena.get() + buffer.offset;
    else if (buffer.home == Home::Constant)
      memory = plan.constants[buffer.index].get();
    made.memory.push_back(memory);
  }
  return made;
}

/// Sets the memory of arguments and results. Returns the tensors of both, arguments first, which own it.
Result<std::vector<Tensor>> CpuProgram::prepare(const std::vector<Argument> &arguments,
                                                Workspace &workspace) const {
  const Plan &plan = *compiled.plan;
  std::vector<Tensor> tensors;
  for (size_t index = 0; index < arguments.size(); ++index) {
    Tensor tensor = arguments[index].tensor;
    if (plan.writtenArguments[index] && !arguments[index].mayBeOverwritten) {
      TORCHERE_ASSIGN(tensor, tensor.clone());
    }
    tensors.push_back(std::move(tensor));
  }
  for (const pjrt_server::TensorType &type : compiled.entry.results) {
    TORCHERE_ASSIGN(Tensor tensor, Tensor::create(type.elementType, type.shape));
    tensors.push_back(std::move(tensor));
  }
  for (size_t id = 0; id < plan.buffers.size(); ++id) {
    const Buffer &buffer = plan.buffers[id];
    if (buffer.home == Home::Argument)
      workspace.memory[id] = tensors[buffer.index].writableBytes().data();
    else if (buffer.home == Home::Result)
      workspace.memory[id] = tensors[arguments.size() + buffer.index].writableBytes().data();
    if (buffer.home == Home::Result || buffer.home == Home::Arena)
      poison(workspace.memory[id], buffer.bytes);
  }
  return tensors;
}

Result<std::vector<Tensor>> CpuProgram::runPlan(const std::vector<Argument> &arguments,
                                                Rendezvous *rendezvous) const {
  const Plan &plan = *compiled.plan;
  TORCHERE_ASSIGN(Workspace workspace, takeWorkspace());
  TORCHERE_ASSIGN(std::vector<Tensor> tensors, prepare(arguments, workspace));
  std::vector<Origin> origins;
  for (const Argument &argument : arguments)
    origins.push_back({argument.id, argument.contents});
  Frame frame{context, std::move(workspace.memory), origins, rendezvous};
  Status status = runSteps(plan.steps, frame);
  workspace.memory = std::move(frame.memory);
  {
    std::lock_guard lock(mutex);
    workspaces.push_back(std::move(workspace));
  }
  TORCHERE_TRY(status);
  std::vector<Tensor> results;
  for (BufferId id : plan.results) {
    const Buffer &buffer = plan.buffers[id];
    results.push_back(
        tensors[buffer.home == Home::Argument ? buffer.index : arguments.size() + buffer.index]);
  }
  return results;
}

Result<ResultLists> CpuProgram::run(const ArgumentLists &arguments) const {
  ResultLists results;
  if (compiled.plan) {
    TORCHERE_ASSIGN(std::vector<Tensor> ofProcess, runPlan(arguments.front()));
    results.push_back(std::move(ofProcess));
    return results;
  }
  std::vector<std::vector<Tensor>> inputs;
  for (const std::vector<Argument> &ofProcess : arguments) {
    inputs.emplace_back();
    for (const Argument &argument : ofProcess)
      inputs.back().push_back(argument.tensor);
  }
  return interpretWhole(compiled, processes, std::move(inputs));
}

} // namespace torchere::cpu
