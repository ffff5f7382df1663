// Implements PackedCache.
#include "cpu/execute/packed_cache.h"

#include <algorithm>

namespace torchere::cpu {

void PackedCache::Entries::onEnd(uint64_t id) noexcept {
  std::lock_guard lock(mutex);
  std::erase_if(list, [&](const Entry &entry) { return entry.id == id; });
}

PackedCache::Entry &PackedCache::Entries::entryOf(const Origin &origin, bool &isNew) {
  uint64_t id = origin.contents->id();
  auto found = std::find_if(list.begin(), list.end(), [&](const Entry &entry) { return entry.id == id; });
  isNew = found == list.end();
  if (!isNew) {
    std::rotate(found, found + 1, list.end());
    return list.back();
  }
  auto isOther = [](const Entry &entry) { return !entry.isWeight; };
  if (!origin.isWeight && std::count_if(list.begin(), list.end(), isOther) == maxEntries)
    list.erase(std::find_if(list.begin(), list.end(), isOther));
  return list.emplace_back(Entry{id, origin.isWeight, nullptr});
}

Result<Packed> PackedCache::find(const Origin &origin, const Pack &pack) {
  if (!origin.contents)
    return nullptr;
  std::lock_guard lock(entries->mutex);
  bool isNew;
  Entry &entry = entries->entryOf(origin, isNew);
  if (isNew)
    origin.contents->tell(entries);
  if (!entry.packed && (!isNew || origin.isWeight)) {
    auto packPresent = [&]() -> Result<Packed> {
      if (origin.isGone)
        return fail(ErrorCode::FailedPrecondition, "a weight's value is gone before it is packed");
      return pack();
    };
    TORCHERE_ASSIGN(entry.packed, sharedPacking(entry.id, layout, packPresent));
  }
  return entry.packed;
}

Result<Packed> PackedCache::findConstant(const Pack &pack) {
  std::lock_guard lock(entries->mutex);
  if (entries->list.empty()) {
    TORCHERE_ASSIGN(Packed packed, pack());
    entries->list.push_back({0, true, std::move(packed)});
  }
  return entries->list.front().packed;
}

} // namespace torchere::cpu
