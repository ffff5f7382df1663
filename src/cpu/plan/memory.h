// Memory: blocks for arenas, results, constants and packed weights.
#pragma once

#include "base/error.h"
#include "base/memory_share.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace torchere::cpu {

/// Memory aligned to 64 bytes, as kernels want it, and its share of all memory.
struct MemoryRelease {
  void operator()(std::byte *memory);
  MemoryShare share;
  size_t mapped = 0; ///< bytes of a mapping of its own, or 0
};
using Memory = std::unique_ptr<std::byte[], MemoryRelease>;
/// ResourceExhausted if there is not enough (see base/memory_share.h). Not zeroed.
Result<Memory> allocateMemory(int64_t bytes);
inline constexpr int64_t memoryAlignment = 64;
inline int64_t roundedToAlignment(int64_t bytes) {
  return (bytes + memoryAlignment - 1) / memoryAlignment * memoryAlignment;
}

} // namespace torchere::cpu
