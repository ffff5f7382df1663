// View: where the elements of a value lie: a buffer, an offset and strides. Views of one buffer share
// elements.
#pragma once

#include "base/element_type.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace torchere::cpu {

using Sizes = std::vector<int64_t>;
using BufferId = uint32_t;

/// Offset and strides are in elements; a stride of 0 broadcasts.
struct View {
  BufferId buffer = 0;
  ElementType type = ElementType::F32;
  int64_t offset = 0;
  Sizes shape;
  Sizes strides;

  int elementSize() const { return elementTypeInfo(type).bytes(); }
  bool operator==(const View &) const = default;
};

int64_t elementCount(std::span<const int64_t> shape);
Sizes rowMajorStrides(std::span<const int64_t> shape);
/// Whether the elements lie one after the other in row-major order.
bool isDense(const View &view);

/// Whether parts along the dimension lie one after the other in a dense view of the shape.
bool hasPartsInRow(std::span<const int64_t> shape, size_t dimension);

View denseView(BufferId buffer, ElementType type, Sizes shape);
/// The same elements in another shape with as many; none if no strides give it.
std::optional<View> reshaped(const View &view, const Sizes &shape);
/// Dimension i of the view becomes dimension dimensions[i]; a size of 1 is repeated.
View broadcast(const View &view, const Sizes &shape, std::span<const int64_t> dimensions);
/// Dimension i of the result is dimension order[i] of the view.
View transposed(const View &view, std::span<const int64_t> order);
View sliced(const View &view, std::span<const int64_t> starts, const Sizes &shape,
            std::span<const int64_t> steps);
View reversed(const View &view, std::span<const int64_t> dimensions);

/// Views of one shape with as few dimensions as walk them all in the same order.
struct Walk {
  Sizes shape;
  std::vector<Sizes> strides; ///< by view
};
Walk walkOver(const Sizes &shape, std::span<const Sizes *const> strides);

} // namespace torchere::cpu
