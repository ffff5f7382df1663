// Implements the run of a program, and the donation of its arguments.
#include "interpreter_plugin/execution.h"

#include <cstring>
#include <set>

namespace torchere::interpreter_plugin {

using interpreter::Tensor;

void Execution::run() {
  Status status = pjrt::guarded([this] { return compute(); });
  arguments.clear(); // donated memory is released before anyone learns of the end
  for (const auto &ofProcess : results)
    for (const std::shared_ptr<Array> &result : ofProcess)
      result->ready->set(status);
  complete->set(std::move(status));
}

Status Execution::compute() {
  std::vector<std::vector<Tensor>> inputs;
  for (const auto &ofProcess : arguments) {
    std::vector<Tensor> &tensors = inputs.emplace_back();
    for (const std::shared_ptr<Array> &argument : ofProcess) {
      TORCHERE_TRY(argument->ready->wait());
      tensors.push_back(argument->tensor);
    }
  }
  const pjrt::CompileOptions &options = program->options();
  TORCHERE_ASSIGN(auto tensors,
                  interpreter::interpretProcesses(
                      program->module(), {options.replicaCount, options.partitionCount}, std::move(inputs)));
  return deliver(std::move(tensors));
}

/// Gives each result its own elements, in the memory of the argument donated to it if there is one. The
/// interpreter may return the same elements several times, for an argument that is returned or a reshaped
/// result.
Status Execution::deliver(std::vector<std::vector<Tensor>> tensors) {
  std::set<const void *> owned;
  for (const auto &ofProcess : arguments)
    for (const std::shared_ptr<Array> &argument : ofProcess)
      owned.insert(argument->tensor.bytes().data());
  for (std::vector<Tensor> &ofProcess : tensors)
    for (Tensor &tensor : ofProcess)
      if (!owned.insert(tensor.bytes().data()).second) {
        TORCHERE_ASSIGN(tensor, tensor.clone());
      }
  const auto &declared = program->entry().arguments;
  for (size_t process = 0; process < tensors.size(); ++process) {
    for (size_t index = 0; index < declared.size(); ++index) {
      Array &argument = *arguments[process][index];
      if (!isDonated[process][index] || !declared[index].aliasingResult || argument.externalReferences)
        continue;
      Tensor &result = tensors[process][*declared[index].aliasingResult];
      std::span<std::byte> memory = argument.tensor.writableBytes();
      if (!memory.empty())
        std::memcpy(memory.data(), result.bytes().data(), memory.size());
      result = argument.tensor;
    }
    for (size_t index = 0; index < tensors[process].size(); ++index)
      results[process][index]->tensor = std::move(tensors[process][index]);
  }
  return {};
}

} // namespace torchere::interpreter_plugin
