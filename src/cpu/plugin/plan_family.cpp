// Implements PlanFamily.
#include "cpu/plugin/plan_family.h"

#include "base/digest.h"
#include "cpu/plugin/stored_module.h"

#include <fmt/ranges.h>
#include <set>

namespace torchere::cpu {

/// The weight program of a plan that computes nothing from weights: it reads those that steps pack. Null if
/// there are none.
static std::shared_ptr<const WeightProgram> emptyProgram(const CompiledModule &compiled) {
  if (!compiled.plan)
    return nullptr;
  std::set<size_t> arguments;
  for (const Packing &packing : packingsOfWeights(compiled))
    arguments.insert(packing.argument);
  if (arguments.empty())
    return nullptr;
  WeightProgram program;
  program.arguments.assign(arguments.begin(), arguments.end());
  program.key = fmt::format("packs {}", fmt::join(arguments, " "));
  return std::make_shared<const WeightProgram>(std::move(program));
}

std::shared_ptr<WeightSets> PlanFamily::weightSetsOf(const CompiledModule &compiled, const Context &context) {
  std::shared_ptr<const WeightProgram> program = compiled.weights;
  if (!program && store)
    program = emptyProgram(compiled);
  if (!program)
    return nullptr;
  std::string key = program->key;
  if (hasStored)
    if (std::string stored = storeWeightProgram(*program, context.isa); !stored.empty())
      key = "stored " + hexText(Digest().addField(stored).finish());
  if (key.empty())
    return std::make_shared<WeightSets>(program, context, store);
  std::lock_guard lock(mutex);
  std::erase_if(sets, [](const auto &entry) { return entry.second.expired(); });
  std::weak_ptr<WeightSets> &found = sets[key];
  std::shared_ptr<WeightSets> shared = found.lock();
  if (!shared)
    found = shared = std::make_shared<WeightSets>(program, context, store);
  return shared;
}

} // namespace torchere::cpu
