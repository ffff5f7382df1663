// The extreme elements of windows, and where they lie.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

namespace torchere::cpu {

/// Which element counts where some are equal, or NaN.
enum class WindowRule : uint8_t {
  FirstOrNan,    ///< the first of equal ones; NaN wins, the last one: as PyTorch pools
  FirstToRemain, ///< an element gives way to the next one unless it is as extreme, so NaN to any
};

constexpr size_t kWindowRank = 3;

/// Windows over planes, which are dense: [plane][..][..][..]. What a window has beyond its plane does not
/// count.
struct WindowExtremumArgs {
  DType type = DType::F32; ///< one that hasExtremum()
  bool isLargest = true;
  WindowRule rule = WindowRule::FirstOrNan;
  DType placeType = DType::I64; ///< or I32
  int64_t emptyPlace = 0;       ///< of a window without elements, whose value is the weakest one
  int64_t planes = 1;
  int64_t dims[kWindowRank] = {1, 1, 1};       ///< of a plane: at most 2^31 - 1 elements
  int64_t outputDims[kWindowRank] = {1, 1, 1}; ///< windows
  int64_t windowDims[kWindowRank] = {1, 1, 1};
  int64_t strides[kWindowRank] = {1, 1, 1};
  int64_t dilations[kWindowRank] = {1, 1, 1};
  int64_t padding[kWindowRank] = {0, 0, 0}; ///< before the first element
  const void *input = nullptr;

  int64_t planeElements() const { return dims[0] * dims[1] * dims[2]; }
  int64_t planeRows() const { return outputDims[0] * outputDims[1]; }
};

/// The sizes of a plane's dimensions, of which there may be fewer: the first ones stay as they are.
inline void putSizes(std::span<const int64_t> sizes, int64_t (&to)[kWindowRank]) {
  std::copy(sizes.begin(), sizes.end(), std::end(to) - sizes.size());
}

/// Both are dense: [plane][..][..][..] of windows.
void findWindowExtrema(const Context &context, const WindowExtremumArgs &args, void *values, void *places);

} // namespace torchere::cpu
