// WeightSets: what a program has computed from its weights, for each set of weights that it was run with.
#pragma once

#include "cpu/plugin/stored_weights.h"

#include <memory>
#include <mutex>

namespace torchere::cpu {

/// The values that a weight program has computed, and what they were computed from.
struct WeightSet {
  Lifetime lifetime;
  std::vector<uint64_t> ids;          ///< of the contents of its arguments
  std::shared_ptr<const void> memory; ///< of the values
  /// By value: where it lies; null for one that steps have packed and do not read again.
  std::vector<std::byte *> values;
  /// By value: what steps keep of it ends with the set.
  std::vector<std::unique_ptr<const Lifetime>> lifetimes;
};

/// Of one weight program, which the plans of a program for several sizes may share.
class WeightSets {
public:
  /// `store`: where other processes find what is computed and packed; null for nowhere.
  WeightSets(std::shared_ptr<const WeightProgram> program, const Context &context,
             std::shared_ptr<PackedStore> store);

  /// A plan with this weight program.
  struct User {
    const CompiledModule &compiled;
    std::vector<uint64_t> prepared = {};      ///< the sets that its steps have packed
    std::optional<StoredWeights> stored = {}; ///< once it has looked for a stored set
  };
  /// The set of the arguments' contents, which is computed if there is none yet: by one thread, while others
  /// wait. The user's steps have packed what they need of it. Sets end with the contents of any of their
  /// arguments.
  Result<std::shared_ptr<const WeightSet>> find(const std::vector<pjrt_server::Argument> &arguments,
                                                User &user);
  int64_t count() const;

private:
  /// Outlives the program while contents end.
  struct Sets final : Lifetime::Listener {
    void onEnd(uint64_t id) noexcept final;
    std::mutex mutex;
    std::vector<std::shared_ptr<const WeightSet>> list;
  };
  using Arguments = std::vector<pjrt_server::Argument>;
  Result<std::shared_ptr<const WeightSet>> make(const Arguments &arguments, User &user);
  /// Whether the set was stored: it has its values then, and the user's steps what they pack.
  Result<bool> load(const Arguments &arguments, WeightSet &set, User &user) const;
  void save(const Arguments &arguments, const WeightSet &set, const User &user);
  Status computeNew(const Arguments &arguments, WeightSet &set, const User &user) const;
  /// Computes all values, of which those that are kept go to `kept`, and lets the user's steps pack.
  Status compute(const Arguments &arguments, const WeightSet &set, std::byte *kept, const User &user) const;
  /// For a plan that meets a set which another one has made.
  Status adopt(const Arguments &arguments, const WeightSet &set, User &user) const;

  std::shared_ptr<const WeightProgram> program;
  Context context;
  std::shared_ptr<PackedStore> store;
  int savedCount = 0;
  std::vector<int64_t> keptOffsets; ///< by value
  int64_t keptBytes = 0;
  std::shared_ptr<Sets> sets = std::make_shared<Sets>();
};

/// What steps may keep of the program's arguments: those of the call, then the set's values.
void setOrigins(const CompiledModule &compiled, const std::vector<pjrt_server::Argument> &arguments,
                const WeightSet *set, std::vector<Origin> &origins);

} // namespace torchere::cpu
