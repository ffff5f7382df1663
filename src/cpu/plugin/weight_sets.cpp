// Implements WeightSets.
#include "cpu/plugin/weight_sets.h"

#include <algorithm>

namespace torchere::cpu {

using pjrt_server::Argument;

void setOrigins(const CompiledModule &compiled, const std::vector<Argument> &arguments, const WeightSet *set,
                std::vector<Origin> &origins) {
  origins.clear();
  for (size_t index = 0; index < arguments.size(); ++index)
    origins.push_back({arguments[index].contents, compiled.isWeight[index]});
  for (size_t value = 0; set && value < set->lifetimes.size(); ++value)
    origins.push_back({set->lifetimes[value].get(), true});
}

void WeightSets::Sets::onEnd(uint64_t id) noexcept {
  std::vector<std::shared_ptr<const WeightSet>> ended; // outside the lock, as what they end has locks too
  std::lock_guard lock(mutex);
  auto first = std::stable_partition(list.begin(), list.end(), [&](const auto &set) {
    return std::find(set->ids.begin(), set->ids.end(), id) == set->ids.end();
  });
  ended.assign(std::make_move_iterator(first), std::make_move_iterator(list.end()));
  list.erase(first, list.end());
}

Result<std::shared_ptr<const WeightSet>> WeightSets::find(const std::vector<Argument> &arguments) {
  const std::vector<size_t> &read = compiled.weights->arguments;
  auto isOf = [&](const std::shared_ptr<const WeightSet> &set) {
    return std::equal(read.begin(), read.end(), set->ids.begin(),
                      [&](size_t index, uint64_t id) { return arguments[index].contents->id() == id; });
  };
  std::lock_guard lock(sets->mutex);
  auto found = std::find_if(sets->list.begin(), sets->list.end(), isOf);
  if (found != sets->list.end())
    return *found;
  TORCHERE_ASSIGN(std::shared_ptr<const WeightSet> made, make(arguments));
  sets->list.push_back(made);
  for (size_t index : read)
    arguments[index].contents->tell(sets);
  return made;
}

int64_t WeightSets::count() const {
  std::lock_guard lock(sets->mutex);
  return static_cast<int64_t>(sets->list.size());
}

/// The memory of constants and arguments; that of others is null.
static std::vector<std::byte *> memoryOf(const Plan &plan, const std::vector<Argument> &arguments,
                                         const std::vector<std::byte *> &values) {
  std::vector<std::byte *> memory;
  for (const Buffer &buffer : plan.buffers) {
    std::byte *place = nullptr;
    if (buffer.home == Home::Constant) {
      place = plan.constants[buffer.index].get();
    } else if (buffer.home == Home::Argument && buffer.index < arguments.size()) {
      interpreter::Tensor tensor = arguments[buffer.index].tensor;
      place = tensor.writableBytes().data();
    } else if (buffer.home == Home::Argument) {
      place = values[buffer.index - arguments.size()];
    }
    memory.push_back(place);
  }
  return memory;
}

/// Values that are only packed lie in memory that is free again when this returns.
Result<std::shared_ptr<const WeightSet>> WeightSets::make(const std::vector<Argument> &arguments) const {
  const Plan &plan = compiled.weights->plan;
  auto set = std::make_shared<WeightSet>();
  for (size_t index : compiled.weights->arguments)
    set->ids.push_back(arguments[index].contents->id());
  auto isKept = [&](size_t value) { return compiled.plan->readArguments[arguments.size() + value]; };
  int64_t keptBytes = 0, packedBytes = 0;
  std::vector<int64_t> offsets;
  for (size_t value = 0; value < plan.results.size(); ++value) {
    int64_t &end = isKept(value) ? keptBytes : packedBytes;
    offsets.push_back(end);
    end += roundedToAlignment(plan.buffers[plan.results[value]].bytes);
  }
  TORCHERE_ASSIGN(set->memory, allocateMemory(keptBytes));
  TORCHERE_ASSIGN(Memory packed, allocateMemory(packedBytes));
  TORCHERE_ASSIGN(Memory arena, allocateMemory(plan.arenaBytes));
  std::vector<std::byte *> values;
  std::vector<std::byte *> memory = memoryOf(plan, arguments, {});
  for (size_t value = 0; value < plan.results.size(); ++value) {
    values.push_back((isKept(value) ? set->memory : packed).get() + offsets[value]);
    memory[plan.results[value]] = values.back();
    set->values.push_back(isKept(value) ? values.back() : nullptr);
    set->lifetimes.push_back(std::make_unique<const Lifetime>());
  }
  for (size_t id = 0; id < plan.buffers.size(); ++id)
    if (plan.buffers[id].home == Home::Arena)
      memory[id] = arena.get() + plan.buffers[id].offset;
  std::vector<Origin> origins(arguments.size()); // nothing of it is to be kept
  TORCHERE_TRY(runSteps(plan.steps, {context, std::move(memory), origins}));
  arena = nullptr;
  TORCHERE_TRY(prepare(arguments, *set, values));
  return std::shared_ptr<const WeightSet>(std::move(set));
}

Status WeightSets::prepare(const std::vector<Argument> &arguments, const WeightSet &set,
                           const std::vector<std::byte *> &values) const {
  std::vector<Origin> origins;
  setOrigins(compiled, arguments, &set, origins);
  Frame frame{context, memoryOf(*compiled.plan, arguments, values), origins};
  return prepareSteps(compiled.plan->steps, frame);
}

} // namespace torchere::cpu
