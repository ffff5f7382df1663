// Implements ResultPool.
#include "cpu/plugin/result_pool.h"

#include <algorithm>

namespace torchere::cpu {

struct ResultPool::Block {
  int64_t bytes = 0;
  Memory memory;
  uint64_t putBackAt = 0;
};

/// Those of the process. What waits in a pool is counted at its most, so that runs which take and put back
/// the same memory do not write here. Time passes when more is counted: of memory that was put back in
/// between, none has waited longer. The mutex is locked before a pool's.
class ResultPool::AllPools {
public:
  static AllPools &get() {
    static AllPools &all = *new AllPools; // results may outlive static objects
    return all;
  }
  void add(ResultPool *pool) {
    std::lock_guard lock(mutex);
    pools.push_back(pool);
  }
  void remove(ResultPool *pool) {
    std::lock_guard lock(mutex);
    std::erase(pools, pool);
    counted -= pool->countedBytes;
  }
  uint64_t now() const { return time.load(std::memory_order_relaxed); }
  void countMore(int64_t bytes) {
    ++time;
    if ((counted += bytes) > maxIdleBytes)
      release(maxIdleBytes);
  }
  void countLess(int64_t bytes) { counted -= bytes; }
  /// Releases what has waited longest until no more than `most` bytes wait.
  void release(int64_t most) {
    recount();
    while (counted > most) {
      Block block = takeOldest(); // released outside the lock
      if (!block.memory)          // others have taken it
        break;
    }
  }

private:
  void recount() {
    std::lock_guard lock(mutex);
    for (ResultPool *pool : pools)
      pool->recount();
  }
  Block takeOldest() {
    std::lock_guard lock(mutex);
    auto since = [](const ResultPool *pool) { return pool->oldestAt.load(std::memory_order_relaxed); };
    auto oldest = std::ranges::min_element(pools, {}, since);
    return oldest == pools.end() ? Block() : (*oldest)->takeOldest();
  }

  std::atomic<uint64_t> time = 0;
  std::atomic<int64_t> counted = 0;
  std::mutex mutex;
  std::vector<ResultPool *> pools;
  IdleMemory idle{[this] { release(0); }};
};

ResultPool::ResultPool() {
  AllPools::get().add(this);
}

ResultPool::~ResultPool() {
  AllPools::get().remove(this);
}

ResultPool::Block ResultPool::removeIdle(std::vector<Block>::iterator place) {
  Block block = std::move(*place);
  idleBytes -= block.bytes;
  idle.erase(place);
  oldestAt.store(idle.empty() ? never : idle.front().putBackAt, std::memory_order_relaxed);
  return block;
}

void ResultPool::recount() {
  std::lock_guard lock(mutex);
  AllPools::get().countLess(countedBytes - idleBytes);
  countedBytes = idleBytes;
}

ResultPool::Block ResultPool::takeOldest() {
  std::lock_guard lock(mutex);
  if (idle.empty())
    return {};
  Block block = removeIdle(idle.begin());
  AllPools::get().countLess(block.bytes);
  countedBytes -= block.bytes;
  return block;
}

void ResultPool::putBack(Block block) noexcept {
  if (block.bytes > maxIdleBytes)
    return;
  Block replaced; // released outside the lock
  AllPools &all = AllPools::get();
  int64_t growth = 0;
  {
    std::lock_guard lock(mutex);
    if (idle.size() == maxIdleBlocks)
      replaced = removeIdle(idle.begin());
    block.putBackAt = all.now();
    idleBytes += block.bytes;
    idle.push_back(std::move(block)); // into space that take() has reserved
    oldestAt.store(idle.front().putBackAt, std::memory_order_relaxed);
    growth = std::max<int64_t>(idleBytes - countedBytes, 0);
    countedBytes += growth;
  }
  if (growth > 0)
    all.countMore(growth);
}

ResultPool::Block ResultPool::takeIdle(int64_t bytes) {
  std::lock_guard lock(mutex);
  idle.reserve(maxIdleBlocks);
  auto found =
      std::find_if(idle.rbegin(), idle.rend(), [&](const Block &each) { return each.bytes == bytes; });
  return found == idle.rend() ? Block() : removeIdle(std::next(found).base());
}

Result<std::shared_ptr<std::byte[]>> ResultPool::take(int64_t bytes) {
  Block block = takeIdle(bytes);
  if (!block.memory) {
    TORCHERE_ASSIGN(block.memory, allocateMemory(bytes));
    block.bytes = bytes;
  }
  std::byte *memory = block.memory.get();
  auto release = [pool = weak_from_this(), block = std::move(block)](std::byte *) mutable {
    if (std::shared_ptr<ResultPool> present = pool.lock())
      present->putBack(std::move(block));
  };
  return std::shared_ptr<std::byte[]>(memory, std::move(release));
}

} // namespace torchere::cpu
