// What every kernel that writes a blocked tensor owes it: zeros in the halo and beyond the last channel.
#pragma once

#include "cpu/kernels/convolution.h"

#include <cstring>

namespace torchere::cpu {

/// The halo beside rows [begin, end) of a block, with that above the first and below the last row of the
/// tensor.
inline void clearHalo(const BlockedTensor &tensor, int64_t image, int64_t block, int64_t begin, int64_t end) {
  if (tensor.halo == Halo())
    return;
  int64_t side = tensor.halo.columns * tensor.lanes, row = tensor.paddedWidth() * tensor.lanes;
  float *first = tensor.at(image, block) - side;
  for (int64_t y = begin; y < end; ++y) {
    std::memset(first + y * row, 0, side * sizeof(float));
    std::memset(first + (y + 1) * row - side, 0, side * sizeof(float));
  }
  if (begin == 0)
    std::memset(first - tensor.halo.rows * row, 0, tensor.halo.rows * row * sizeof(float));
  if (end == tensor.height)
    std::memset(first + tensor.height * row, 0, tensor.halo.rows * row * sizeof(float));
}

/// The lanes beyond the last channel in `pixels` pixels of a block.
inline void clearLanes(const BlockedTensor &tensor, int64_t block, float *pixel, int64_t pixels) {
  int64_t used = tensor.channels - block * tensor.lanes;
  for (int64_t i = 0; used < tensor.lanes && i < pixels; ++i)
    std::memset(pixel + i * tensor.lanes + used, 0, (tensor.lanes - used) * sizeof(float));
}

} // namespace torchere::cpu
