// MemoryShare: accounts for the memory that tensors take.
#pragma once

#include "base/error.h"

#include <utility>

namespace torchere::evaluation {

/// The maximum number of bytes that all tensors of the process may take together: the machine's memory, or
/// the limit of the process's control group if lower.
TORCHERE_EXPORT int64_t memoryLimit();
/// How much they take now.
TORCHERE_EXPORT int64_t memoryTaken();

/// A number of bytes out of memoryLimit(), returned on destruction. Allocations beyond the machine's memory
/// must not reach the system: it may grant them and kill the process when the memory is touched.
class MemoryShare {
public:
  MemoryShare() = default;
  /// ResourceExhausted if less is left; the message says how much.
  TORCHERE_EXPORT static Result<MemoryShare> take(int64_t bytes);
  /// For `count` elements of `width` bytes.
  static Result<MemoryShare> take(int64_t count, int64_t width);
  MemoryShare(MemoryShare &&other) noexcept : bytes(std::exchange(other.bytes, 0)) {}
  MemoryShare &operator=(MemoryShare &&other) noexcept {
    std::swap(bytes, other.bytes);
    return *this;
  }
  TORCHERE_EXPORT ~MemoryShare();

private:
  int64_t bytes = 0;
};

} // namespace torchere::evaluation
