// Implements PlanFamily.
#include "cpu/plugin/plan_family.h"

namespace torchere::cpu {

std::shared_ptr<WeightSets> PlanFamily::weightSetsOf(const CompiledModule &compiled, const Context &context) {
  if (!compiled.weights)
    return nullptr;
  if (compiled.weights->key.empty())
    return std::make_shared<WeightSets>(compiled.weights, context);
  std::lock_guard lock(mutex);
  std::erase_if(sets, [](const auto &entry) { return entry.second.expired(); });
  std::weak_ptr<WeightSets> &found = sets[compiled.weights->key];
  std::shared_ptr<WeightSets> shared = found.lock();
  if (!shared)
    found = shared = std::make_shared<WeightSets>(compiled.weights, context);
  return shared;
}

} // namespace torchere::cpu
