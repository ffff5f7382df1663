// Implements the ops that move elements.
#include "evaluation/rearrangement.h"

namespace torchere::evaluation {

Result<Tensor> concatenate(int64_t dimension, std::span<const Tensor> tensors) {
  Index shape = tensors.front().shape();
  for (const Tensor &tensor : tensors.subspan(1))
    shape[dimension] += tensor.shape()[dimension];
  TORCHERE_ASSIGN(Tensor result, Tensor::create(tensors.front().type(), shape));
  int64_t offset = 0;
  Index target;
  for (const Tensor &tensor : tensors) {
    forEachIndex(tensor.shape(), [&](IndexView index, int64_t position) {
      target.assign(index.begin(), index.end());
      target[dimension] += offset;
      result.copyFrom(flatten(target, shape), tensor, position);
    });
    offset += tensor.shape()[dimension];
  }
  return result;
}

Result<Tensor> partAlong(int64_t dimension, const Tensor &tensor, int64_t start, int64_t size) {
  Index shape = tensor.shape(), from;
  shape[dimension] = size;
  return take(tensor, std::move(shape), [&](IndexView index) {
    from.assign(index.begin(), index.end());
    from[dimension] += start;
    return flatten(from, tensor.shape());
  });
}

Result<Tensor> iota(ElementType type, Index shape, int64_t dimension) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, std::move(shape)));
  forEachIndex(result.shape(), [&](IndexView index, int64_t position) {
    Element value = Element::integer(ElementType::I64, static_cast<uint64_t>(index[dimension]));
    result.set(position, convert(value, type));
  });
  return result;
}

Result<Tensor> broadcastInDim(const Tensor &operand, Index shape, IndexView dimensions) {
  for (size_t dimension = 0; dimension < dimensions.size(); ++dimension) {
    int64_t size = operand.shape()[dimension], target = shape[dimensions[dimension]];
    if (size != 1 && size != target)
      return invalidArgument("dimension {} of operand has size {} and cannot be broadcast to {}", dimension,
                             size, target);
  }
  Index from(dimensions.size());
  return take(operand, std::move(shape), [&](IndexView index) {
    for (size_t dimension = 0; dimension < dimensions.size(); ++dimension)
      from[dimension] = operand.shape()[dimension] == 1 ? 0 : index[dimensions[dimension]];
    return flatten(from, operand.shape());
  });
}

Result<Tensor> transpose(const Tensor &operand, IndexView permutation) {
  Index shape, from(permutation.size());
  for (int64_t dimension : permutation)
    shape.push_back(operand.shape()[dimension]);
  return take(operand, std::move(shape), [&](IndexView index) {
    for (size_t dimension = 0; dimension < from.size(); ++dimension)
      from[permutation[dimension]] = index[dimension];
    return flatten(from, operand.shape());
  });
}

Result<Tensor> reverse(const Tensor &operand, IndexView dimensions) {
  Index from;
  return take(operand, operand.shape(), [&](IndexView index) {
    from.assign(index.begin(), index.end());
    for (int64_t dimension : dimensions)
      from[dimension] = operand.shape()[dimension] - 1 - from[dimension];
    return flatten(from, operand.shape());
  });
}

/// The size of a dimension after padding. Each amount may be any int64; low and high may be negative.
static Result<int64_t> paddedSize(int64_t size, int64_t low, int64_t high, int64_t interior) {
  int64_t padded = 0;
  if (interior < 0)
    return invalidArgument("interior padding: got {}, expected at least 0", interior);
  if (__builtin_mul_overflow(std::max<int64_t>(size - 1, 0), interior, &padded) ||
      __builtin_add_overflow(padded, size, &padded) || __builtin_add_overflow(padded, low, &padded) ||
      __builtin_add_overflow(padded, high, &padded) || padded < 0)
    return invalidArgument("a dimension of size {} cannot be padded by {} and {}, and {} between elements",
                           size, low, high, interior);
  return padded;
}

Result<Tensor> pad(const Tensor &operand, const Tensor &padding, IndexView low, IndexView high,
                   IndexView interior) {
  Index shape;
  for (size_t dimension = 0; dimension < low.size(); ++dimension) {
    TORCHERE_ASSIGN(int64_t size, paddedSize(operand.shape()[dimension], low[dimension], high[dimension],
                                             interior[dimension]));
    shape.push_back(size);
  }
  TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), shape));
  for (int64_t position = 0; position < result.count(); ++position)
    result.copyFrom(position, padding, 0);
  Index target(shape.size());
  forEachIndex(operand.shape(), [&](IndexView index, int64_t position) {
    for (size_t dimension = 0; dimension < shape.size(); ++dimension)
      target[dimension] = low[dimension] + index[dimension] * (interior[dimension] + 1);
    if (isInside(target, shape))
      result.copyFrom(flatten(target, shape), operand, position);
  });
  return result;
}

Result<Tensor> slice(const Tensor &operand, IndexView start, IndexView limit, IndexView strides) {
  Index shape;
  for (size_t dimension = 0; dimension < start.size(); ++dimension) {
    int64_t first = start[dimension], end = limit[dimension], stride = strides[dimension];
    if (first < 0 || end < first || end > operand.shape()[dimension] || stride < 1)
      return invalidArgument("slice [{}:{}:{}] of dimension {}, which has size {}", first, end, stride,
                             dimension, operand.shape()[dimension]);
    shape.push_back((end - first + (stride - 1)) / stride);
  }
  Index from(shape.size());
  return take(operand, shape, [&](IndexView index) {
    for (size_t dimension = 0; dimension < shape.size(); ++dimension)
      from[dimension] = start[dimension] + index[dimension] * strides[dimension];
    return flatten(from, operand.shape());
  });
}

} // namespace torchere::evaluation
