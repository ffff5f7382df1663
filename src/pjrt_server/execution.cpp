// Implements the run of a program, and the donation of its arguments.
#include "pjrt_server/execution.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_set>

namespace torchere::pjrt_server {

/// A switch of threads, and the one back, would cost as much of such a run as it computes.
static constexpr int64_t shortestRun = 100'000; // nanoseconds

bool Execution::isShort() const {
  auto areReady = [](const auto &ofProcess) {
    return std::ranges::all_of(ofProcess, [](const auto &array) { return array->ready->isSet(); });
  };
  return program->lastDuration().load(std::memory_order_relaxed) < shortestRun &&
         std::ranges::all_of(arguments, areReady);
}

void Execution::run() {
  Status status = guarded([this] { return compute(); });
  arguments.clear(); // donated memory is released before anyone learns of the end
  for (const auto &ofProcess : results)
    for (const std::shared_ptr<Array> &result : ofProcess)
      result->ready->set(status);
  complete->set(std::move(status));
}

Status Execution::compute() {
  ArgumentLists inputs;
  for (size_t process = 0; process < arguments.size(); ++process) {
    inputs.emplace_back().reserve(arguments[process].size());
    for (size_t index = 0; index < arguments[process].size(); ++index) {
      const ArrayUse &use = arguments[process][index];
      const Array &argument = *use;
      TORCHERE_TRY(argument.ready->wait());
      bool mayBeOverwritten =
          isDonated[index] && !argument.isImmutable && argument.externalReferences == 0 && use.isOnly();
      inputs.back().push_back({&argument.tensor, mayBeOverwritten, &argument.lifetime});
    }
  }
  const Program &compiled = program->program();
  auto begin = std::chrono::steady_clock::now();
  TORCHERE_ASSIGN(ResultLists tensors, report ? compiled.profile(inputs, *report) : compiled.run(inputs));
  Status status = deliver(inputs, std::move(tensors));
  std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
  program->lastDuration().store(taken.count(), std::memory_order_relaxed);
  return status;
}

/// By result of a process: the argument donated to it, if its memory may be overwritten. Of open sizes, those
/// of a result may turn out to be others than its argument's.
static std::vector<const Argument *> donorsOf(const interpreter::EntryPoint &entry,
                                              const std::vector<Argument> &inputs,
                                              const std::vector<Tensor> &results) {
  std::vector<const Argument *> donors(entry.results.size());
  for (size_t index = 0; index < inputs.size(); ++index)
    if (std::optional<size_t> result = entry.arguments[index].aliasingResult;
        result && inputs[index].mayBeOverwritten && inputs[index].tensor->shape() == results[*result].shape())
      donors[*result] = &inputs[index];
  return donors;
}

static bool isIn(const Tensor &result, const Argument *donor) {
  return donor && donor->tensor->bytes().data() == result.bytes().data();
}

/// Gives each result its own elements. The program may return the same ones several times, for an argument
/// that is returned or a reshaped result.
static Status separate(const interpreter::EntryPoint &entry, const ArgumentLists &inputs,
                       ResultLists &tensors) {
  std::vector<const void *> given;
  for (const std::vector<Argument> &ofProcess : inputs)
    for (const Argument &argument : ofProcess)
      given.push_back(argument.tensor->bytes().data());
  std::ranges::sort(given);
  std::unordered_set<const void *> owned; // by results before
  for (size_t process = 0; process < tensors.size(); ++process) {
    std::vector<const Argument *> donors = donorsOf(entry, inputs[process], tensors[process]);
    for (size_t index = 0; index < donors.size(); ++index) {
      Tensor &tensor = tensors[process][index];
      const void *elements = tensor.bytes().data();
      if (!isIn(tensor, donors[index]) &&
          (std::ranges::binary_search(given, elements) || !owned.insert(elements).second)) {
        TORCHERE_ASSIGN(tensor, tensor.clone());
      }
    }
  }
  return {};
}

/// Hands out the results, each in the memory of the argument donated to it if there is one.
Status Execution::deliver(const ArgumentLists &inputs, ResultLists tensors) {
  const interpreter::EntryPoint &entry = program->entry();
  TORCHERE_TRY(separate(entry, inputs, tensors));
  for (size_t process = 0; process < tensors.size(); ++process) {
    std::vector<const Argument *> donors = donorsOf(entry, inputs[process], tensors[process]);
    for (size_t index = 0; index < donors.size(); ++index) {
      Tensor &result = tensors[process][index];
      if (donors[index] && !isIn(result, donors[index])) {
        Tensor memory = *donors[index]->tensor;
        if (!memory.bytes().empty())
          std::memcpy(memory.writableBytes().data(), result.bytes().data(), memory.bytes().size());
        result = std::move(memory);
      }
      results[process][index]->tensor = std::move(result);
    }
  }
  return {};
}

} // namespace torchere::pjrt_server
