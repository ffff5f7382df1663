// PlanFamily: what the plans of one program for several sizes, or of several processes, share.
#pragma once

#include "cpu/plugin/arena_pool.h"
#include "cpu/plugin/weight_sets.h"

#include <map>
#include <string>

namespace torchere::cpu {

class PlanFamily {
public:
  /// `store`: for weights of all plans; null for none.
  explicit PlanFamily(std::shared_ptr<PackedStore> store = nullptr) : store(std::move(store)) {}

  ArenaPool arenas;
  /// From now on plans that were stored share with those that are made: their weight programs are compared as
  /// they are stored, which takes longer.
  void sharesStored() { hasStored = true; }
  /// Null without a weight program, unless the plan packs weights that are to be stored. Plans with equal
  /// ones have one, as long as any of them lives.
  std::shared_ptr<WeightSets> weightSetsOf(const CompiledModule &compiled, const Context &context);

private:
  std::shared_ptr<PackedStore> store;
  bool hasStored = false;
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<WeightSets>> sets;
};

} // namespace torchere::cpu
