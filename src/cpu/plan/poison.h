// Poison: a mode in which memory is laid so that steps that read or write what they should not are found out.
#pragma once

#include "base/error.h"

#include <cstddef>
#include <cstdint>

namespace torchere::cpu {

/// By the environment's TORCHERE_CPU_POISON, which is read once: "arena" or "buffers".
enum class Poison : uint8_t {
  Off,
  Arena,   ///< memory is NaN before each run, and ends at a page that nobody may touch
  Buffers, ///< the same, and each buffer of the arena has memory of its own
};
Poison poisonMode();

/// Makes all bytes ones: NaN in every float type, -1 in every signed one. Does nothing if the mode is off.
void poison(std::byte *memory, int64_t bytes);

/// Memory that begins at a multiple of 64 bytes and, rounded up to that, ends at a protected page; another
/// one lies before it. ResourceExhausted if there is not enough.
Result<std::byte *> allocateGuarded(int64_t bytes);
void releaseGuarded(std::byte *memory);

} // namespace torchere::cpu
