// Implements PackedRegion.
#include "cpu/execute/packed_region.h"

#include "cpu/plan/large_pages.h"

#include <algorithm>
#include <utility>

namespace torchere::cpu {

static thread_local PackedRegion *present = nullptr;

PackedRegion::PackedRegion() : outer(std::exchange(present, this)) {}
PackedRegion::~PackedRegion() {
  present = outer;
}

static Result<std::shared_ptr<std::byte[]>> allocateShared(int64_t bytes) {
  TORCHERE_ASSIGN(Memory memory, allocateMemory(bytes));
  return std::shared_ptr<std::byte[]>(std::move(memory));
}

Result<std::shared_ptr<std::byte[]>> PackedRegion::allocate(int64_t bytes) {
  bool isAlone = !present || poisonMode() != Poison::Off; // then each ends at a protected page
  return isAlone ? allocateShared(bytes) : present->take(bytes);
}

/// As much as there is already, so that a program of few weights takes little. What is left of a slab's last
/// large page is lost, so they are not many.
static int64_t slabSize(int64_t bytes, int64_t total) {
  constexpr int64_t most = int64_t{64} << 20;
  return roundedToLargePages(std::max(bytes, std::min(total, most)));
}

Result<std::shared_ptr<std::byte[]>> PackedRegion::take(int64_t bytes) {
  bytes = roundedToAlignment(bytes);
  if (bytes > size - used) {
    int64_t next = slabSize(bytes, total);
    TORCHERE_ASSIGN(slab, allocateShared(next));
    used = 0;
    size = next;
    total += next;
  }
  return std::shared_ptr<std::byte[]>(slab, slab.get() + std::exchange(used, used + bytes));
}

} // namespace torchere::cpu
