// WeightSets: what a program has computed from its weights, for each set of weights that it was run with.
#pragma once

#include "cpu/frontend/compile.h"
#include "pjrt_server/program.h"

#include <memory>
#include <mutex>

namespace torchere::cpu {

/// The values that a weight program has computed, and what they were computed from.
struct WeightSet {
  std::vector<uint64_t> ids; ///< of the contents of its arguments
  Memory memory;
  /// By value: where it lies; null for one that steps have packed and do not read again.
  std::vector<std::byte *> values;
  /// By value: what steps keep of it ends with the set.
  std::vector<std::unique_ptr<const Lifetime>> lifetimes;
};

class WeightSets {
public:
  /// For plans that have a weight program; `compiled` outlives it.
  WeightSets(const CompiledModule &compiled, const Context &context) : compiled(compiled), context(context) {}

  /// The set of the arguments' contents, which is computed if there is none yet: by one thread, while others
  /// wait. Sets end with the contents of any of their arguments.
  Result<std::shared_ptr<const WeightSet>> find(const std::vector<pjrt_server::Argument> &arguments);
  int64_t count() const;

private:
  /// Outlives the program while contents end.
  struct Sets final : Lifetime::Listener {
    void onEnd(uint64_t id) noexcept final;
    std::mutex mutex;
    std::vector<std::shared_ptr<const WeightSet>> list;
  };
  Result<std::shared_ptr<const WeightSet>> make(const std::vector<pjrt_server::Argument> &arguments) const;
  Status prepare(const std::vector<pjrt_server::Argument> &arguments, const WeightSet &set,
                 const std::vector<std::byte *> &values) const;

  const CompiledModule &compiled;
  Context context;
  std::shared_ptr<Sets> sets = std::make_shared<Sets>();
};

/// What steps may keep of the program's arguments: those of the call, then the set's values.
void setOrigins(const CompiledModule &compiled, const std::vector<pjrt_server::Argument> &arguments,
                const WeightSet *set, std::vector<Origin> &origins);

} // namespace torchere::cpu
