// Walking over the indices of a tensor, and turning an index into a position in row-major order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace torchere::evaluation {

/// One number per dimension: an index, a shape, or strides.
using Index = std::vector<int64_t>;
using IndexView = std::span<const int64_t>;

/// The product of the sizes, which must be those of an existing tensor.
inline int64_t elementCount(IndexView shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// The position of an element in row-major order.
inline int64_t flatten(IndexView index, IndexView shape) {
  int64_t position = 0;
  for (size_t dimension = 0; dimension < shape.size(); ++dimension)
    position = position * shape[dimension] + index[dimension];
  return position;
}

inline bool isInside(IndexView index, IndexView shape) {
  for (size_t dimension = 0; dimension < shape.size(); ++dimension)
    if (index[dimension] < 0 || index[dimension] >= shape[dimension])
      return false;
  return true;
}

/// Steps to the next index in row-major order; after the last, to the first.
inline void advance(Index &index, IndexView shape) {
  for (size_t dimension = shape.size(); dimension-- > 0;) {
    if (++index[dimension] < shape[dimension])
      return;
    index[dimension] = 0;
  }
}

/// Calls `visit(index, position)` for each element of the shape, in row-major order.
template <class Visit> void forEachIndex(IndexView shape, Visit visit) {
  int64_t count = elementCount(shape);
  Index index(shape.size(), 0);
  for (int64_t position = 0; position < count; ++position, advance(index, shape))
    visit(IndexView(index), position);
}

} // namespace torchere::evaluation
