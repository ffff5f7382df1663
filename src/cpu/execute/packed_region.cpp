// Implements PackedRegion.
#include "cpu/execute/packed_region.h"

#include "cpu/plan/large_pages.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace torchere::cpu {

static thread_local PackedRegion *present = nullptr;

PackedRegion::PackedRegion() : outer(std::exchange(present, this)) {}

PackedRegion::~PackedRegion() {
  present = outer;
  for (const Slab &slab : slabs)
    slab.releaseRest();
}

/// Whole pages go back to the system. A large page that is used in part would be in memory as a whole.
void PackedRegion::Slab::releaseRest() const {
  std::shared_ptr<Memory> present = memory.lock();
  if (!present)
    return;
  present->get_deleter().share.giveBack(size - used);
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t place = reinterpret_cast<uintptr_t>(present->get());
  uintptr_t begin = (place + static_cast<uintptr_t>(used) + page - 1) / page * page;
  uintptr_t end = (place + static_cast<uintptr_t>(size)) / page * page;
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED); // a wish
}

Result<std::shared_ptr<std::byte[]>> PackedRegion::allocate(int64_t bytes) {
  if (present && poisonMode() == Poison::Off)
    return present->take(bytes);
  TORCHERE_ASSIGN(Memory alone, allocateMemory(bytes)); // which ends at a protected page if there is poison
  return std::shared_ptr<std::byte[]>(std::move(alone));
}

/// Null if the slab has no room, or none at all any more.
std::shared_ptr<std::byte[]> PackedRegion::takeFrom(Slab &slab, int64_t bytes) {
  std::shared_ptr<Memory> memory = bytes <= slab.size - slab.used ? slab.memory.lock() : nullptr;
  if (!memory)
    return nullptr;
  std::byte *place = memory->get() + std::exchange(slab.used, slab.used + bytes);
  return std::shared_ptr<std::byte[]>(std::move(memory), place);
}

/// As much as there is already, so that a program of few weights takes little.
static int64_t slabSize(int64_t bytes, int64_t total) {
  constexpr int64_t most = int64_t{64} << 20;
  return roundedToLargePages(std::max(bytes, std::min(total, most)));
}

/// From the first slab that has room: there are few, as each of the first is as large as all before it.
Result<std::shared_ptr<std::byte[]>> PackedRegion::take(int64_t bytes) {
  bytes = roundedToAlignment(bytes);
  std::erase_if(slabs, [](const Slab &slab) { return slab.memory.expired(); });
  int64_t total = 0;
  for (Slab &slab : slabs) {
    if (std::shared_ptr<std::byte[]> taken = takeFrom(slab, bytes))
      return taken;
    total += slab.size;
  }
  int64_t size = slabSize(bytes, total);
  TORCHERE_ASSIGN(Memory memory, allocateMemory(size));
  latest = std::make_shared<Memory>(std::move(memory));
  return takeFrom(slabs.emplace_back(latest, 0, size), bytes);
}

} // namespace torchere::cpu
