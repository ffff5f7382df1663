// Bisections: where values belong in a table, which should be in ascending order.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <limits>

namespace torchere::cpu {

constexpr int64_t kMaxBisectedElements = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxBisectionTurns = 64;

/// For each value, `turns` times: middle = low + (high - low) / 2, then high = middle if the value is less
/// than (unless it is strict: or equal to) the table's element there, the last one beyond it, else
/// low = middle. Zeros of both signs are equal; NaN are as well, and more than numbers.
struct BisectionArgs {
  DType type = DType::F32;      ///< one that hasBisection()
  DType placeType = DType::I32; ///< of 32 or 64 bits
  int64_t length = 1;           ///< of the table: 1 to kMaxBisectedElements
  int64_t count = 0;
  int64_t turns = 0;
  int64_t low = 0;
  int64_t high = 0; ///< from `low` to the length
  bool isStrict = false;
  bool isLow = false; ///< of both the result is `low`
  const void *table = nullptr;
  const void *values = nullptr;
  void *places = nullptr;
};
bool hasBisection(DType type);
void bisect(const Context &context, const BisectionArgs &args);

} // namespace torchere::cpu
