// The system's large pages, of which memory of their size and more is made.
#pragma once

#include "cpu/plan/poison.h"

#include <cstdint>

namespace torchere::cpu {

inline constexpr int64_t largePage = int64_t{2} << 20;

/// Whole large pages if half of the last one or more is needed: the system clears the rest in less time than
/// as many small pages take, each of which is a fault.
inline int64_t roundedToLargePages(int64_t bytes) {
  int64_t last = bytes % largePage;
  bool isWorthIt = last >= largePage / 2 && poisonMode() == Poison::Off;
  return isWorthIt ? bytes - last + largePage : bytes;
}

} // namespace torchere::cpu
