// The extreme elements of lines, and where they lie.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

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
void findExtrema(const Context &context, const ExtremumArgs &args);

} // namespace torchere::cpu
