// What is known of indices.
#include "lazy/index_range.h"

#include "lazy/settings.h"
#include "lazy/tensor.h"

#include <ATen/ops/sum.h>

#include <algorithm>
#include <atomic>

namespace torchere::lazy {

template <class T> static IndexRange rangeOf(const at::Tensor &dense) {
  const T *first = dense.const_data_ptr<T>();
  auto [least, most] = std::minmax_element(first, first + dense.numel());
  return {*least, *most};
}

std::optional<IndexRange> indexRange(const at::Tensor &tensor) {
  if (tensor.numel() == 0)
    return std::nullopt;
  at::Tensor dense = tensor.contiguous();
  if (tensor.scalar_type() == at::ScalarType::Long)
    return rangeOf<int64_t>(dense);
  if (tensor.scalar_type() == at::ScalarType::Int)
    return rangeOf<int32_t>(dense);
  return std::nullopt;
}

static const std::optional<IndexRange> *knownRange(const at::Tensor &tensor) {
  const TensorImpl *ours = implementationOf(tensor);
  return ours && ours->value().node->range ? &ours->value().node->range : nullptr;
}

at::Tensor withRangeOf(const at::Tensor &operand, at::Tensor result) {
  if (const auto *range = knownRange(operand); range && operand.scalar_type() == result.scalar_type())
    implementationOf(result)->value().node->range = *range;
  return result;
}

static std::atomic<bool> areIndicesRead = isSet("TORCHERE_LAZY_CHECK_INDICES");

bool readIndices(bool isOn) {
  return areIndicesRead.exchange(isOn);
}

/// Of the elements of indices as an op takes them.
static std::optional<IndexRange> rangeOfIndices(const at::Tensor &indices) {
  if (const auto *range = knownRange(indices))
    return *range;
  const TensorImpl *ours =
      areIndicesRead.load(std::memory_order_relaxed) ? implementationOf(indices) : nullptr;
  return ours ? indexRange(ours->value().node->device.download(ours->value())) : std::nullopt;
}

void checkIndices(const char *op, const at::Tensor &indices, const at::Tensor &tensor, int64_t dimension,
                  std::optional<int64_t> ignored) {
  if (tensor.dim() == 0)
    return;
  std::optional<IndexRange> range = rangeOfIndices(indices);
  if (!range)
    return;
  dimension += dimension < 0 ? tensor.dim() : 0;
  if (dimension < 0 || dimension >= tensor.dim())
    return; // the op's own error
  int64_t size = tensor.size(dimension);
  for (int64_t index : {range->least, range->most})
    TORCH_CHECK_INDEX((index >= 0 && index < size) || index == ignored, "[", op,
                      "] an index is out of range: got ", index, ", expected 0 to ", size - 1,
                      " for dimension ", dimension);
}

void checkPositions(const char *op, const at::Tensor &indices, const at::Tensor &tensor, int64_t dimension) {
  std::optional<IndexRange> range = rangeOfIndices(indices);
  if (!range)
    return;
  int64_t size = tensor.size(dimension);
  for (int64_t index : {range->least, range->most})
    TORCH_CHECK_INDEX(index >= -size && index < size, "[", op, "] index ", index,
                      " is out of bounds for dimension ", dimension, " with size ", size);
}

void checkRepeats(const at::Tensor &repeats, int64_t size) {
  std::optional<IndexRange> range = rangeOfIndices(repeats);
  if (range)
    TORCH_CHECK(range->least >= 0, "repeats can not be negative");
  bool isPossible =
      !range || (size >= range->least * repeats.numel() && size <= range->most * repeats.numel());
  if (isPossible && areIndicesRead.load(std::memory_order_relaxed))
    isPossible = at::sum(repeats, at::kLong).item<int64_t>() == size;
  TORCH_CHECK(isPossible, "allocated size does not match required size");
}

} // namespace torchere::lazy
