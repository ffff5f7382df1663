// Implements ResultPool.
#include "cpu/plugin/result_pool.h"

#include "evaluation/memory.h"

#include <algorithm>

namespace torchere::cpu {

struct ResultPool::Block {
  int64_t bytes = 0;
  Memory memory;
  evaluation::MemoryShare share;
};

ResultPool::ResultPool() = default;
ResultPool::~ResultPool() = default;

void ResultPool::putBack(Block block) noexcept {
  std::lock_guard lock(mutex);
  if (block.bytes > maxIdleBytes)
    return;
  while (!idle.empty() && (idle.size() == maxIdleBlocks || idleBytes + block.bytes > maxIdleBytes)) {
    idleBytes -= idle.front().bytes;
    idle.erase(idle.begin());
  }
  idleBytes += block.bytes;
  idle.push_back(std::move(block)); // into space that take() has reserved
}

Result<std::shared_ptr<std::byte[]>> ResultPool::take(int64_t bytes) {
  Block block;
  {
    std::lock_guard lock(mutex);
    idle.reserve(maxIdleBlocks);
    auto found =
        std::find_if(idle.rbegin(), idle.rend(), [&](const Block &each) { return each.bytes == bytes; });
    if (found != idle.rend()) {
      block = std::move(*found);
      idle.erase(std::next(found).base());
      idleBytes -= bytes;
    }
  }
  if (!block.memory) {
    TORCHERE_ASSIGN(block.share, evaluation::MemoryShare::take(bytes));
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
