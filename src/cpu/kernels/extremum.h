// The extreme elements of lines, and where they lie.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <limits>

namespace torchere::cpu {

/// Of a dense [outer][length][inner], along the length, which is at least 1. The first of equal elements
/// counts; NaN wins over numbers.
struct ExtremumArgs {
  DType type = DType::F32; ///< one that hasExtremum()
  bool isLargest = true;
  DType placeType = DType::I64; ///< or I32
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
  const void *input = nullptr;
  void *values = nullptr; ///< [outer][inner]
  void *places = nullptr; ///< likewise
};
bool hasExtremum(DType type);
/// `fn` on a number of such a type.
template <class Fn> auto withNumber(DType type, const Fn &fn) {
  return type == DType::F32   ? fn(float())
         : type == DType::F64 ? fn(double())
         : type == DType::I32 ? fn(int32_t())
                              : fn(int64_t());
}
/// The number that every other one wins over, or is equal to.
template <class T> T weakestNumber(bool isLargest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity)
    return isLargest ? -Limits::infinity() : Limits::infinity();
  return isLargest ? Limits::min() : Limits::max();
}
void findExtrema(const Context &context, const ExtremumArgs &args);

} // namespace torchere::cpu
