// Implements layouts of host memory.
#include "pjrt_server/host_layout.h"

#include <cstring>
#include <numeric>

namespace torchere::pjrt_server {

/// Strides of dense memory; `minorToMajor` is a permutation of the dimensions.
static Index denseStrides(const TensorType &type, const Index &minorToMajor) {
  Index strides(type.shape.size());
  int64_t stride = elementTypeInfo(type.elementType).bytes();
  for (int64_t dimension : minorToMajor) {
    strides[static_cast<size_t>(dimension)] = stride;
    stride *= type.shape[static_cast<size_t>(dimension)];
  }
  return strides;
}

static Index rowMajor(const TensorType &type) {
  Index minorToMajor(type.shape.size());
  std::iota(minorToMajor.rbegin(), minorToMajor.rend(), 0);
  return minorToMajor;
}

Result<Index> stridesOf(const int64_t *strides, size_t count, const TensorType &type) {
  if (!strides)
    return denseStrides(type, rowMajor(type));
  if (count != type.shape.size())
    return invalidArgument("{} strides for a {}", count, type.text());
  return Index(strides, strides + count);
}

static Result<Index> stridesOf(const pjrt::TiledLayout &layout, const TensorType &type) {
  if (layout.tileCount)
    return fail(ErrorCode::Unimplemented, "a layout in tiles: expected a dense one");
  size_t rank = type.shape.size();
  if (layout.minorToMajorSize != rank)
    return invalidArgument("a layout of {} dimensions for a {}", layout.minorToMajorSize, type.text());
  Index minorToMajor(layout.minorToMajor, layout.minorToMajor + rank);
  std::vector<bool> seen(rank);
  for (int64_t dimension : minorToMajor) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(rank) || seen[static_cast<size_t>(dimension)])
      return invalidArgument("a layout that is no permutation of the dimensions of a {}", type.text());
    seen[static_cast<size_t>(dimension)] = true;
  }
  return denseStrides(type, minorToMajor);
}

Result<Index> stridesOf(const pjrt::MemoryLayout *layout, const TensorType &type) {
  if (!layout)
    return denseStrides(type, rowMajor(type));
  switch (layout->type) {
  case pjrt::MemoryLayoutType::Tiled:
    return stridesOf(layout->tiled, type);
  case pjrt::MemoryLayoutType::Strides:
    return stridesOf(layout->strided.byteStrides, layout->strided.byteStrideCount, type);
  }
  return invalidArgument("no such kind of layout: got {}", static_cast<int>(layout->type));
}

Result<int64_t> spanOf(const Index &strides, const TensorType &type) {
  int64_t span = elementTypeInfo(type.elementType).bytes();
  for (size_t dimension = 0; dimension < strides.size(); ++dimension) {
    if (type.shape[dimension] == 0)
      return 0;
    int64_t reach = 0;
    if (strides[dimension] < 0 ||
        __builtin_mul_overflow(strides[dimension], type.shape[dimension] - 1, &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return invalidArgument("a stride that does not fit: got {}", strides[dimension]);
  }
  return span;
}

/// Calls `copy(offset in host memory, offset in the tensor)` for each element.
template <class Copy> static void forEachElement(const Tensor &tensor, const Index &strides, Copy copy) {
  int64_t width = elementTypeInfo(tensor.type()).bytes();
  interpreter::forEachIndex(tensor.shape(), [&](IndexView index, int64_t position) {
    int64_t offset = std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
    copy(offset, position * width, static_cast<size_t>(width));
  });
}

bool isDense(const Index &strides, const TensorType &type) {
  return strides == denseStrides(type, rowMajor(type));
}

void copyFromHost(const void *host, const Index &strides, Tensor &tensor) {
  std::byte *target = tensor.writableBytes().data();
  const auto *source = static_cast<const std::byte *>(host);
  if (tensor.count() == 0)
    return;
  if (isDense(strides, {tensor.type(), tensor.shape()})) {
    std::memcpy(target, source, tensor.bytes().size());
    return;
  }
  forEachElement(tensor, strides, [&](int64_t hostOffset, int64_t offset, size_t width) {
    std::memcpy(target + offset, source + hostOffset, width);
  });
}

void copyToHost(const Tensor &tensor, void *host, const Index &strides) {
  const std::byte *source = tensor.bytes().data();
  auto *target = static_cast<std::byte *>(host);
  if (tensor.count() == 0)
    return;
  if (isDense(strides, {tensor.type(), tensor.shape()})) {
    std::memcpy(target, source, tensor.bytes().size());
    return;
  }
  forEachElement(tensor, strides, [&](int64_t hostOffset, int64_t offset, size_t width) {
    std::memcpy(target + hostOffset, source + offset, width);
  });
}

} // namespace torchere::pjrt_server
