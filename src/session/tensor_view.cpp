// TensorView: the density test, and the copy that makes a view dense.
#include "session/tensor_view.h"

#include <cstdlib>
#include <cstring>

namespace torchere::session {

static constexpr size_t alignment = 64;

bool TensorView::isContiguous() const {
  if (strides.empty())
    return true;
  int64_t expected = 1;
  bool dense = true;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0)
      return true; // no elements
    dense &= shape[i] == 1 || strides[i] == expected;
    expected *= shape[i];
  }
  return dense;
}

namespace {
/// Copies elements of one size, `count` along the last dimension at a time.
struct DenseCopier {
  std::span<const int64_t> shape, strides;
  size_t elementSize;
  char *target;

  void copy(const char *source, size_t dimension) {
    if (dimension + 1 < shape.size()) {
      for (int64_t i = 0; i < shape[dimension]; ++i)
        copy(source + i * strides[dimension] * static_cast<int64_t>(elementSize), dimension + 1);
      return;
    }
    int64_t count = shape.empty() ? 1 : shape[dimension];
    int64_t stride = shape.empty() ? 1 : strides[dimension];
    if (stride == 1) {
      std::memcpy(target, source, static_cast<size_t>(count) * elementSize);
      target += static_cast<size_t>(count) * elementSize;
      return;
    }
    switch (elementSize) {
    case 1:
      return copyRow<1>(source, count, stride);
    case 2:
      return copyRow<2>(source, count, stride);
    case 4:
      return copyRow<4>(source, count, stride);
    case 8:
      return copyRow<8>(source, count, stride);
    default:
      return copyRow<16>(source, count, stride);
    }
  }

  template <size_t size> void copyRow(const char *source, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i, target += size)
      std::memcpy(target, source + i * stride * static_cast<int64_t>(size), size);
  }
};
} // namespace

Result<std::shared_ptr<const void>> copyDense(const TensorView &view) {
  runtime::ArrayType type{view.dtype, {view.shape.begin(), view.shape.end()}};
  TORCHERE_ASSIGN(size_t size, type.byteSize());
  std::shared_ptr<void> memory(std::aligned_alloc(alignment, (size / alignment + 1) * alignment), std::free);
  if (!memory)
    return fail(ErrorCode::ResourceExhausted, "[tensor] no memory for a dense copy of {} bytes", size);
  if (size == 0)
    return memory;
  const auto *source = static_cast<const char *>(view.data);
  if (view.isContiguous())
    std::memcpy(memory.get(), source, size);
  else
    DenseCopier{view.shape, view.strides, byteSize(view.dtype), static_cast<char *>(memory.get())}.copy(
        source, 0);
  return memory;
}

Result<runtime::HostArray> denseArray(const TensorView &view) {
  runtime::HostArray array{
      view.data, runtime::makeArrayType(view.dtype, {view.shape.begin(), view.shape.end()}), view.owner};
  if (view.isContiguous())
    return array;
  TORCHERE_ASSIGN(array.owner, copyDense(view));
  array.data = array.owner.get();
  return array;
}

} // namespace torchere::session
