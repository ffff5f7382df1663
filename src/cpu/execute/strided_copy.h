// Copies of elements between any strides, of any number of dimensions.
#pragma once

#include "cpu/kernels/thread_pool.h"
#include "cpu/plan/view.h"

#include <cstddef>

namespace torchere::cpu {

/// Copies `shape` elements of `elementSize` bytes; strides are in elements. The memories do not overlap.
void copyElements(const Context &context, const Sizes &shape, int elementSize, const std::byte *from,
                  const Sizes &fromStrides, std::byte *to, const Sizes &toStrides);

} // namespace torchere::cpu
