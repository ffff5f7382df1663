// Implements the table of packed copies.
#include "cpu/execute/shared_packings.h"

#include <map>
#include <mutex>

namespace torchere::cpu {

namespace {

struct Packings {
  std::mutex mutex;
  std::map<std::pair<uint64_t, std::string>, std::weak_ptr<const Memory>> copies;
  size_t pruned = 0; ///< entries that were left when the dead ones were erased
};

Packings &packings() {
  static auto &all = *new Packings; // steps may outlive static destructors
  return all;
}

} // namespace

Result<std::shared_ptr<const Memory>> sharedPacking(uint64_t id, const std::string &layout,
                                                    const std::function<Result<Memory>()> &pack) {
  Packings &all = packings();
  std::pair key(id, layout);
  if (!layout.empty()) {
    std::lock_guard lock(all.mutex);
    if (auto found = all.copies.find(key); found != all.copies.end())
      if (std::shared_ptr<const Memory> copy = found->second.lock())
        return copy;
  }
  TORCHERE_ASSIGN(Memory memory, pack()); // two threads may do so at once
  auto copy = std::make_shared<const Memory>(std::move(memory));
  if (layout.empty())
    return copy;
  std::lock_guard lock(all.mutex);
  all.copies[std::move(key)] = copy;
  if (all.copies.size() > 2 * all.pruned + 64) {
    std::erase_if(all.copies, [](const auto &entry) { return entry.second.expired(); });
    all.pruned = all.copies.size();
  }
  return copy;
}

} // namespace torchere::cpu
