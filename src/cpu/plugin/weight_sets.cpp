// Implements WeightSets.
#include "cpu/plugin/weight_sets.h"

#include "base/log.h"
#include "cpu/plan/large_pages.h"

#include <algorithm>
#include <chrono>

namespace torchere::cpu {

using pjrt_server::Argument;

void setOrigins(const CompiledModule &compiled, const std::vector<Argument> &arguments, const WeightSet *set,
                std::vector<Origin> &origins) {
  origins.clear();
  for (size_t index = 0; index < arguments.size(); ++index)
    origins.push_back({arguments[index].contents, compiled.isWeight[index]});
  for (size_t value = 0; set && value < set->lifetimes.size(); ++value)
    origins.push_back({set->lifetimes[value].get(), true, set->values[value] == nullptr});
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

/// How many sets of a program are stored: weights that change with every call would fill the disk.
static constexpr int mostSaved = 4;

WeightSets::WeightSets(std::shared_ptr<const WeightProgram> weights, const Context &context,
                       std::shared_ptr<PackedStore> store)
    : program(std::move(weights)), context(context), store(std::move(store)) {
  const Plan &plan = program->plan;
  for (size_t value = 0; value < plan.results.size(); ++value) {
    keptOffsets.push_back(keptBytes);
    if (program->isKept[value])
      keptBytes += roundedToAlignment(plan.buffers[plan.results[value]].bytes);
  }
}

Result<std::shared_ptr<const WeightSet>> WeightSets::find(const Arguments &arguments, User &user) {
  const std::vector<size_t> &read = program->arguments;
  auto isOf = [&](const std::shared_ptr<const WeightSet> &set) {
    return std::equal(read.begin(), read.end(), set->ids.begin(),
                      [&](size_t index, uint64_t id) { return arguments[index].contents->id() == id; });
  };
  std::lock_guard lock(sets->mutex);
  auto found = std::find_if(sets->list.begin(), sets->list.end(), isOf);
  if (found == sets->list.end()) {
    TORCHERE_ASSIGN(std::shared_ptr<const WeightSet> made, make(arguments, user));
    sets->list.push_back(made);
    for (size_t index : read)
      arguments[index].contents->tell(sets);
    found = std::prev(sets->list.end());
  }
  uint64_t id = (*found)->lifetime.id();
  if (std::find(user.prepared.begin(), user.prepared.end(), id) == user.prepared.end()) {
    TORCHERE_TRY(adopt(arguments, **found, user));
    std::erase_if(user.prepared, [&](uint64_t other) {
      return std::none_of(sets->list.begin(), sets->list.end(),
                          [&](const auto &set) { return set->lifetime.id() == other; });
    });
    user.prepared.push_back(id);
  }
  return *found;
}

int64_t WeightSets::count() const {
  std::lock_guard lock(sets->mutex);
  return static_cast<int64_t>(sets->list.size());
}

/// The memory of constants, and of arguments: the call's, then `values`.
static std::vector<std::byte *> memoryOf(const Plan &plan, const std::vector<Argument> &arguments,
                                         const std::vector<std::byte *> &values) {
  std::vector<std::byte *> memory;
  for (const Buffer &buffer : plan.buffers) {
    std::byte *place = nullptr;
    if (buffer.home == Home::Constant) {
      place = plan.constants[buffer.index].get();
    } else if (buffer.home == Home::Argument && buffer.index < arguments.size()) {
      place = arguments[buffer.index].memory();
    } else if (buffer.home == Home::Argument) {
      place = values[buffer.index - arguments.size()];
    }
    memory.push_back(place);
  }
  return memory;
}

Result<std::shared_ptr<const WeightSet>> WeightSets::make(const Arguments &arguments, User &user) {
  auto set = std::make_shared<WeightSet>();
  for (size_t index : program->arguments)
    set->ids.push_back(arguments[index].contents->id());
  set->values.resize(keptOffsets.size());
  for (size_t value = 0; value < keptOffsets.size(); ++value)
    set->lifetimes.push_back(std::make_unique<const Lifetime>());
  TORCHERE_ASSIGN(bool isLoaded, load(arguments, *set, user));
  if (!isLoaded) {
    TORCHERE_TRY(computeNew(arguments, *set, user));
    save(arguments, *set, user);
  }
  user.prepared.push_back(set->lifetime.id());
  return std::shared_ptr<const WeightSet>(std::move(set));
}

Status WeightSets::computeNew(const Arguments &arguments, WeightSet &set, const User &user) const {
  TORCHERE_ASSIGN(Memory memory, allocateMemory(keptBytes));
  std::byte *kept = memory.get();
  set.memory = std::shared_ptr<std::byte[]>(std::move(memory));
  for (size_t value = 0; value < keptOffsets.size(); ++value)
    if (program->isKept[value])
      set.values[value] = kept + keptOffsets[value];
  auto start = std::chrono::steady_clock::now();
  TORCHERE_TRY(compute(arguments, set, kept, user));
  std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] computed and packed weights in {:.2f} ms", user.compiled.entry.name,
                    taken.count());
  return {};
}

Result<bool> WeightSets::load(const Arguments &arguments, WeightSet &set, User &user) const {
  if (!store)
    return false;
  if (!user.stored)
    user.stored.emplace(user.compiled, *program, context.isa);
  if (!user.stored->hasSections())
    return false;
  std::unique_ptr<const PackedStore::Mapped> mapped = store->load(user.stored->subjectOf(arguments), context);
  if (!mapped)
    return false;
  std::vector<Packed> copies = user.stored->adopt(*mapped, arguments, set);
  Status adopted = adopt(arguments, set, user);
  if (!adopted) { // computed and packed instead: what is kept on disk never stops a program
    TORCHERE_LOG_LINE(Info, "cpu", "[{}] packed weights are not used: {}", user.compiled.entry.name,
                      adopted.error().message);
    set.values.assign(set.values.size(), nullptr);
    set.memory = nullptr;
  }
  return bool(adopted);
}

void WeightSets::save(const Arguments &arguments, const WeightSet &set, const User &user) {
  if (!store || !user.stored->hasSections() || savedCount == mostSaved)
    return;
  std::vector<Packed> copies;
  std::vector<std::span<const std::byte>> sections = user.stored->sectionsOf(arguments, set, copies);
  if (sections.empty())
    return;
  ++savedCount;
  store->store(user.stored->subjectOf(arguments), sections, context);
}

/// All of the plan's where there is nothing to compute.
static Status prepareAfter(const CompiledModule &compiled, size_t step, const Frame &frame) {
  if (compiled.packers.empty())
    return prepareSteps(compiled.plan->steps, frame);
  for (const Step *packer : compiled.packers[step])
    TORCHERE_TRY(packer->prepare(frame));
  return {};
}

Status WeightSets::compute(const Arguments &arguments, const WeightSet &set, std::byte *kept,
                           const User &user) const {
  const Plan &plan = program->plan;
  TORCHERE_ASSIGN(Memory arena, allocateMemory(roundedToLargePages(plan.arenaBytes)));
  std::vector<std::byte *> memory = memoryOf(plan, arguments, {}), values = set.values;
  for (size_t id = 0; id < plan.buffers.size(); ++id)
    if (plan.buffers[id].home == Home::Arena)
      memory[id] = arena.get() + plan.buffers[id].offset;
  placeParts(plan, memory);
  for (size_t value = 0; value < values.size(); ++value) {
    if (program->isKept[value])
      memory[plan.results[value]] = kept + keptOffsets[value];
    values[value] = memory[plan.results[value]];
  }
  std::vector<Origin> none(arguments.size()), origins; // nothing of the weight program's is to be kept
  setOrigins(user.compiled, arguments, &set, origins);
  for (Origin &origin : origins)
    origin.isGone = false;
  Frame frame{context, std::move(memory), none};
  Frame packing{context, memoryOf(*user.compiled.plan, arguments, values), origins};
  for (size_t index = 0; index <= plan.steps.size(); ++index) {
    if (index < plan.steps.size())
      TORCHERE_TRY(plan.steps[index]->run(frame));
    TORCHERE_TRY(prepareAfter(user.compiled, index, packing));
  }
  return {};
}

Status WeightSets::adopt(const Arguments &arguments, const WeightSet &set, User &user) const {
  std::vector<Origin> origins;
  setOrigins(user.compiled, arguments, &set, origins);
  Frame frame{context, memoryOf(*user.compiled.plan, arguments, set.values), origins};
  Status status = prepareSteps(user.compiled.plan->steps, frame);
  if (status || status.error().code != ErrorCode::FailedPrecondition)
    return status;
  // Another form than any plan has packed: of values that are gone. Those that are kept are in use.
  TORCHERE_ASSIGN(Memory kept, allocateMemory(keptBytes));
  return compute(arguments, set, kept.get(), user);
}

} // namespace torchere::cpu
