// Implements ArenaPool.
#include "cpu/plugin/arena_pool.h"

#include <algorithm>

namespace torchere::cpu {

static bool isSmaller(const Arena &arena, int64_t bytes) {
  return arena.bytes < bytes;
}

/// The smallest that is large enough. One that is too small for a run gives way to a larger one: there are no
/// more than runs at once, of the size of the largest.
Result<Arena> ArenaPool::take(int64_t bytes) {
  Arena replaced; // released outside the lock
  {
    std::lock_guard lock(mutex);
    auto found = std::lower_bound(idle.begin(), idle.end(), bytes, isSmaller);
    bool isFound = found != idle.end();
    if (!isFound && !idle.empty())
      found = std::prev(idle.end());
    if (found != idle.end()) {
      replaced = std::move(*found);
      idle.erase(found);
    }
    if (isFound)
      return replaced;
  }
  replaced = {};
  TORCHERE_ASSIGN(Memory memory, allocateMemory(bytes));
  return Arena{std::move(memory), bytes};
}

void ArenaPool::putBack(Arena arena) {
  std::lock_guard lock(mutex);
  auto place = std::lower_bound(idle.begin(), idle.end(), arena.bytes, isSmaller);
  idle.insert(place, std::move(arena));
}

void ArenaPool::release() {
  std::vector<Arena> released; // outside the lock
  std::lock_guard lock(mutex);
  released.swap(idle);
}

} // namespace torchere::cpu
