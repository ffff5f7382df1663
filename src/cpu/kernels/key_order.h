// The order of a line's elements by their keys: stable, by digits of keys that are unsigned integers.
#pragma once

#include "base/dtype.h"

#include <cstdint>

namespace torchere::cpu {

/// How floats are compared.
enum class FloatOrder : uint8_t {
  Total,   ///< IEEE 754's: -NaN, -inf, ..., -0, 0, ..., inf, NaN
  NanLast, ///< all NaNs are equal and greater than all numbers; -0 equals 0
  Partial, ///< as `<` has it: there is no order with NaN
};

struct SortKey {
  DType type = DType::F32; ///< any but complex and 8-bit floats
  FloatOrder order = FloatOrder::Total;
  bool descending = false;
};

/// Reorders `order`, numbers of the line's elements, by the elements' keys; equal ones stay as they are.
/// False if keys that are compared partially hold a NaN; `order` is then as before. `n` is below 2^32.
/// `scratch` has keyOrderScratch(n) bytes, aligned to 8.
bool orderByKey(const SortKey &key, const void *line, int64_t n, uint32_t *order, void *scratch);
int64_t keyOrderScratch(int64_t n);

/// The numbers of the `count` elements that come first, at least 1 and at most `n`, in their order: as
/// orderByKey() has it of a line whose `order` is 0, 1, ... False as there. `scratch` has
/// keyOrderScratch(count) bytes.
bool firstByKey(const SortKey &key, const void *line, int64_t n, int64_t count, uint32_t *order,
                void *scratch);

} // namespace torchere::cpu
