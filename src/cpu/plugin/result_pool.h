// ResultPool: memory for results, which is used again once nobody has the results any more.
#pragma once

#include "cpu/plan/plan.h"

#include <memory>
#include <mutex>

namespace torchere::cpu {

class ResultPool : public std::enable_shared_from_this<ResultPool> {
public:
  ResultPool();
  ~ResultPool();
  ResultPool(const ResultPool &) = delete;
  ResultPool &operator=(const ResultPool &) = delete;

  /// Not zeroed. ResourceExhausted if there is not enough; see evaluation/memory.h.
  Result<std::shared_ptr<std::byte[]>> take(int64_t bytes);

private:
  struct Block;
  void putBack(Block block) noexcept;

  /// What waits for the next run, at most.
  static constexpr int64_t maxIdleBytes = int64_t{256} << 20;
  static constexpr size_t maxIdleBlocks = 64;

  std::mutex mutex;
  std::vector<Block> idle; ///< the latest last
  int64_t idleBytes = 0;
};

} // namespace torchere::cpu
