// ResultPool: memory for results, which is used again once nobody has the results any more.
#pragma once

#include "cpu/plan/plan.h"

#include <atomic>
#include <limits>
#include <memory>
#include <mutex>

namespace torchere::cpu {

class ResultPool : public std::enable_shared_from_this<ResultPool> {
public:
  ResultPool();
  ~ResultPool();
  ResultPool(const ResultPool &) = delete;
  ResultPool &operator=(const ResultPool &) = delete;

  /// Not zeroed. ResourceExhausted if there is not enough, even without what waits in all pools.
  Result<std::shared_ptr<std::byte[]>> take(int64_t bytes);

  /// What waits for the next runs of all pools of the process, at most: what has waited longest is released.
  static constexpr int64_t maxIdleBytes = int64_t{256} << 20;

private:
  struct Block;
  class AllPools;
  Block takeIdle(int64_t bytes);
  /// No memory if nothing waits.
  Block takeOldest();
  void putBack(Block block) noexcept;
  Block removeIdle(std::vector<Block>::iterator place);
  /// Counts only what waits now.
  void recount();

  static constexpr size_t maxIdleBlocks = 64;
  static constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

  std::mutex mutex;        ///< of what follows
  std::vector<Block> idle; ///< the latest last
  int64_t idleBytes = 0;
  int64_t countedBytes = 0;               ///< the most that have waited since recount()
  std::atomic<uint64_t> oldestAt = never; ///< of the first block; read without the mutex
};

} // namespace torchere::cpu
