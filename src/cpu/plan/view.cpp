// Implements views.
#include "cpu/plan/view.h"

namespace torchere::cpu {

int64_t elementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Sizes rowMajorStrides(std::span<const int64_t> shape) {
  Sizes strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

bool isDense(const View &view) {
  int64_t expected = 1;
  for (size_t i = view.shape.size(); i-- > 0; expected *= view.shape[i])
    if (view.shape[i] != 1 && view.strides[i] != expected)
      return elementCount(view.shape) == 0;
  return true;
}

bool hasPartsInRow(std::span<const int64_t> shape, size_t dimension) {
  return std::ranges::all_of(shape.first(dimension), [](int64_t size) { return size == 1; });
}

View denseView(BufferId buffer, ElementType type, Sizes shape) {
  View view;
  view.buffer = buffer;
  view.type = type;
  view.strides = rowMajorStrides(shape);
  view.shape = std::move(shape);
  return view;
}

std::optional<View> reshaped(const View &view, const Sizes &shape) {
  View result = view;
  result.shape = shape;
  result.strides = rowMajorStrides(shape);
  if (isDense(view))
    return result;
  // Of the view, without sizes of 1: runs of dimensions that one stride walks.
  const Sizes *strides[] = {&view.strides};
  Walk walk = walkOver(view.shape, strides);
  size_t run = walk.shape.size();
  int64_t left = 1, stride = 0; // what of the current run has no dimension yet
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) {
      result.strides[i] = 0;
      continue;
    }
    if (left == 1) {
      if (run == 0)
        return std::nullopt;
      --run;
      left = walk.shape[run];
      stride = walk.strides[0][run];
    }
    if (left % shape[i] != 0)
      return std::nullopt;
    result.strides[i] = stride;
    stride *= shape[i];
    left /= shape[i];
  }
  if (left != 1 || run != 0)
    return std::nullopt;
  return result;
}

View broadcast(const View &view, const Sizes &shape, std::span<const int64_t> dimensions) {
  View result = view;
  result.shape = shape;
  result.strides.assign(shape.size(), 0);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    auto dimension = static_cast<size_t>(dimensions[i]);
    if (view.shape[i] == shape[dimension])
      result.strides[dimension] = view.strides[i];
  }
  return result;
}

View transposed(const View &view, std::span<const int64_t> order) {
  View result = view;
  for (size_t i = 0; i < order.size(); ++i) {
    result.shape[i] = view.shape[static_cast<size_t>(order[i])];
    result.strides[i] = view.strides[static_cast<size_t>(order[i])];
  }
  return result;
}

View sliced(const View &view, std::span<const int64_t> starts, const Sizes &shape,
            std::span<const int64_t> steps) {
  View result = view;
  result.shape = shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    result.offset += starts[i] * view.strides[i];
    result.strides[i] = view.strides[i] * steps[i];
  }
  return result;
}

View reversed(const View &view, std::span<const int64_t> dimensions) {
  View result = view;
  for (int64_t dimension : dimensions) {
    auto i = static_cast<size_t>(dimension);
    if (view.shape[i] == 0)
      continue;
    result.offset += (view.shape[i] - 1) * view.strides[i];
    result.strides[i] = -view.strides[i];
  }
  return result;
}

Walk walkOver(const Sizes &shape, std::span<const Sizes *const> strides) {
  Walk walk;
  walk.strides.resize(strides.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    bool joins = !walk.shape.empty();
    for (size_t view = 0; joins && view < strides.size(); ++view)
      joins = walk.strides[view].back() == (*strides[view])[i] * shape[i];
    if (!joins)
      walk.shape.push_back(1);
    walk.shape.back() *= shape[i];
    for (size_t view = 0; view < strides.size(); ++view) {
      if (!joins)
        walk.strides[view].push_back(0);
      walk.strides[view].back() = (*strides[view])[i];
    }
  }
  return walk;
}

} // namespace torchere::cpu
