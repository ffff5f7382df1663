// Implements PackedCache.
#include "cpu/execute/packed_cache.h"

#include "cpu/execute/shared_packings.h"

#include <algorithm>

namespace torchere::cpu {

static Result<std::shared_ptr<const Memory>> packedBy(const PackedCache::Pack &pack) {
  TORCHERE_ASSIGN(Memory memory, pack());
  return std::make_shared<const Memory>(std::move(memory));
}

Result<std::shared_ptr<const Memory>> PackedCache::find(const Origin &origin, const Pack &pack) {
  std::lock_guard lock(mutex);
  auto found = std::find_if(entries.begin(), entries.end(),
                            [&](const Entry &entry) { return entry.origin.id == origin.id; });
  if (found == entries.end()) {
    std::erase_if(entries, [](const Entry &entry) { return entry.origin.contents.expired(); });
    if (entries.size() == maxEntries)
      entries.erase(entries.begin());
    entries.push_back({origin, nullptr});
    return nullptr;
  }
  std::rotate(found, found + 1, entries.end());
  if (!entries.back().packed) {
    TORCHERE_ASSIGN(entries.back().packed, sharedPacking(origin.id, layout, pack));
  }
  return entries.back().packed;
}

Result<std::shared_ptr<const Memory>> PackedCache::findConstant(const Pack &pack) {
  std::lock_guard lock(mutex);
  if (entries.empty()) {
    TORCHERE_ASSIGN(std::shared_ptr<const Memory> packed, packedBy(pack));
    entries.push_back({{}, std::move(packed)});
  }
  return entries.front().packed;
}

} // namespace torchere::cpu
