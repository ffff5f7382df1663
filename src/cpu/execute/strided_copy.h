// Copies of elements between any strides, of any number of dimensions.
#pragma once

#include "cpu/kernels/thread_pool.h"
#include "cpu/plan/view.h"

#include <cstddef>

namespace torchere::cpu {

/// A copy that is planned once. Running it allocates nothing.
class StridedCopy {
public:
  StridedCopy() = default;
  /// Of `shape` elements of `elementSize` bytes; strides are in elements.
  StridedCopy(const Sizes &shape, int elementSize, const Sizes &fromStrides, const Sizes &toStrides);
  /// The memories do not overlap.
  void run(const Context &context, const std::byte *from, std::byte *to) const;

private:
  void runInner(const Context &context, size_t first, const std::byte *from, std::byte *to) const;

  Walk walk;
  int elementSize = 0;
  bool isEmpty = true;
};

} // namespace torchere::cpu
