// PackedCache: what a step has made of arguments that stay the same, such as a model's weights.
#pragma once

#include "cpu/plan/plan.h"

#include <functional>
#include <mutex>

namespace torchere::cpu {

/// Keyed by the ids of buffers' contents, which are never used again; an entry dies with the contents. An
/// argument is packed when it is used for the second time: one that is new in every call never is.
class PackedCache {
public:
  using Pack = std::function<Result<Memory>()>;

  PackedCache() = default;
  /// Copies of arguments are shared with others of the layout: see sharedPacking().
  explicit PackedCache(std::string layout) : layout(std::move(layout)) {}

  /// What was packed of the origin; null if it is seen for the first time. Packing blocks only callers of the
  /// same step.
  Result<std::shared_ptr<const Memory>> find(const Origin &origin, const Pack &pack);
  /// The same for what never changes.
  Result<std::shared_ptr<const Memory>> findConstant(const Pack &pack);

private:
  struct Entry {
    Origin origin;
    std::shared_ptr<const Memory> packed; ///< null until the second use
  };
  /// Models that share an executable, at most.
  static constexpr size_t maxEntries = 8;

  std::string layout;
  std::mutex mutex;
  std::vector<Entry> entries; ///< the latest used last
};

} // namespace torchere::cpu
