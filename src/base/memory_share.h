// MemoryShare: accounts for the memory that tensors and programs take.
#pragma once

#include "base/error.h"

#include <functional>
#include <utility>

namespace torchere {

/// The maximum number of bytes that all shares of the process may be together: the machine's memory, or the
/// limit of the process's control group if lower.
TORCHERE_EXPORT int64_t memoryLimit();
/// How many they are now.
TORCHERE_EXPORT int64_t memoryTaken();

/// A number of bytes out of memoryLimit(), returned on destruction. Allocations beyond the machine's memory
/// must not reach the system: it may grant them and kill the process when the memory is touched.
class MemoryShare {
public:
  MemoryShare() = default;
  /// ResourceExhausted if less is left, also after each IdleMemory was released; the message says how much.
  TORCHERE_EXPORT static Result<MemoryShare> take(int64_t bytes);
  /// For `count` elements of `width` bytes.
  static Result<MemoryShare> take(int64_t count, int64_t width);
  MemoryShare(MemoryShare &&other) noexcept : bytes(std::exchange(other.bytes, 0)) {}
  MemoryShare &operator=(MemoryShare &&other) noexcept {
    std::swap(bytes, other.bytes);
    return *this;
  }
  TORCHERE_EXPORT ~MemoryShare();
  /// Returns a part of it.
  void giveBack(int64_t part);

private:
  int64_t bytes = 0;
};

/// Tells that somebody keeps memory only to use it again, as long as the object lives.
class IdleMemory {
public:
  /// `release` frees that memory. It is called from any thread that lacks memory, takes no share, and neither
  /// makes nor destroys an IdleMemory.
  explicit IdleMemory(std::function<void()> release);
  /// Waits for a call of `release`.
  ~IdleMemory();
  IdleMemory(const IdleMemory &) = delete;
  IdleMemory &operator=(const IdleMemory &) = delete;

private:
  friend class MemoryShare;
  std::function<void()> release;
};

} // namespace torchere
