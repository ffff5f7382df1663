// MemoryShare: the account of the memory that tensors take.
#pragma once

#include "base/error.h"

#include <utility>

namespace torchere::evaluation {

/// The most bytes that all tensors of a process together may take: the machine's memory, or that of the
/// process's control group where it has less.
TORCHERE_EXPORT int64_t memoryLimit();
/// What they take now.
TORCHERE_EXPORT int64_t memoryTaken();

/// A number of bytes out of memoryLimit(), given back at the end. What is larger than any memory must not be
/// asked of the system: it may hand it out all the same, and end the process when it is written to.
class MemoryShare {
public:
  MemoryShare() = default;
  /// ResourceExhausted when so much is not left; the message says how much.
  TORCHERE_EXPORT static Result<MemoryShare> take(int64_t bytes);
  /// Of `count` elements of `width` bytes.
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
