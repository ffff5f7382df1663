// Reductions of windows, and running reductions: windows that begin, or end, with the axis.
#pragma once

#include "cpu/kernels/reduction.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// output[i] joins `initial` and input[i * outputStrides + j * windowStrides] for all j. The windows lie in
/// the input: padding is a part of it. The output has the input's type and is contiguous. BF16 and F16 are
/// joined in f32 and rounded once. NaN propagates through Max and Min.
struct WindowsArgs {
  DType type = DType::F32; ///< any but complex and 8-bit floats
  Reduction reduction = Reduction::Sum;
  int rank = 0;
  int64_t outputDims[kMaxRank] = {};
  int64_t outputStrides[kMaxRank] = {}; ///< of the input, in elements, for a step of the output
  int64_t windowDims[kMaxRank] = {};
  int64_t windowStrides[kMaxRank] = {}; ///< of the input, for a step in the window
  const void *input = nullptr;
  const void *initial = nullptr; ///< one element
  void *output = nullptr;
};
void reduceWindows(const Context &context, const WindowsArgs &args);

/// output[o][i][k] joins `initial` and input[o][j][k] for all j <= i, or with `backwards` for all j >= i.
/// Both are contiguous. Sums and products of f32 are kept in f64, of BF16 and F16 in f32.
struct RunningArgs {
  DType type = DType::F32;
  Reduction reduction = Reduction::Sum;
  bool backwards = false;
  int64_t outer = 1;
  int64_t length = 0;
  int64_t inner = 1;
  const void *input = nullptr;
  const void *initial = nullptr;
  void *output = nullptr;
};
void reduceRunning(const Context &context, const RunningArgs &args);

} // namespace torchere::cpu
