// PackedCache: what a step has made of arguments that stay the same, such as a model's weights.
#pragma once

#include "cpu/execute/shared_packings.h"
#include "cpu/plan/plan.h"

#include <functional>
#include <mutex>

namespace torchere::cpu {

/// Keyed by the ids of buffers' contents, which are never used again; an entry ends with the contents. A
/// weight is packed when it is first used, another argument when it is used for the second time: one that is
/// new in every call never is.
class PackedCache {
public:
  using Pack = std::function<Result<Packed>()>;

  PackedCache() = default;
  /// Copies of arguments are shared with others of the layout: see sharedPacking().
  explicit PackedCache(std::string layout) : layout(std::move(layout)) {}

  /// What was packed of the origin; null if it is not worth it. Packing blocks only callers of the same step.
  Result<Packed> find(const Origin &origin, const Pack &pack);
  /// The same for what never changes.
  Result<Packed> findConstant(const Pack &pack);
  const std::string &layoutName() const { return layout; }

private:
  struct Entry {
    uint64_t id = 0;
    bool isWeight = false;
    Packed packed; ///< null until it is worth it
  };
  /// Outlives the step while contents end.
  struct Entries final : Lifetime::Listener {
    void onEnd(uint64_t id) noexcept final;
    Entry &entryOf(const Origin &origin, bool &isNew);

    std::mutex mutex;
    std::vector<Entry> list; ///< the latest used last
  };
  /// How many arguments are kept that are no weights, at most: they may live as long as the program.
  static constexpr size_t maxEntries = 8;

  std::string layout;
  std::shared_ptr<Entries> entries = std::make_shared<Entries>();
};

} // namespace torchere::cpu
