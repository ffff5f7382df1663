// Ops that move elements without looking at them.
#pragma once

#include "evaluation/tensor.h"

namespace torchere::evaluation {

/// A tensor of the given shape; each element is the operand's at position `source(index)`.
template <class Source> Result<Tensor> take(const Tensor &operand, Index shape, Source source) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), std::move(shape)));
  forEachIndex(result.shape(),
               [&](IndexView index, int64_t position) { result.copyFrom(position, operand, source(index)); });
  return result;
}

/// Concatenates tensors along a dimension.
Result<Tensor> concatenate(int64_t dimension, std::span<const Tensor> tensors);
/// `size` indices along a dimension, starting at `start`.
Result<Tensor> partAlong(int64_t dimension, const Tensor &tensor, int64_t start, int64_t size);
/// Each element is its index along the dimension.
Result<Tensor> iota(ElementType type, Index shape, int64_t dimension);
/// Dimension i of the operand becomes dimension `dimensions[i]`. InvalidArgument if the shape does not match.
Result<Tensor> broadcastInDim(const Tensor &operand, Index shape, IndexView dimensions);
/// Dimension `permutation[i]` of the operand becomes dimension i.
Result<Tensor> transpose(const Tensor &operand, IndexView permutation);
/// Reversed along these dimensions.
Result<Tensor> reverse(const Tensor &operand, IndexView dimensions);
/// With the scalar `padding` around the operand and between its elements; negative amounts crop.
/// InvalidArgument if the amounts do not fit.
Result<Tensor> pad(const Tensor &operand, const Tensor &padding, IndexView low, IndexView high,
                   IndexView interior);
/// Every stride-th index from `start` up to, but excluding, `limit`. InvalidArgument if the indices do not
/// fit.
Result<Tensor> slice(const Tensor &operand, IndexView start, IndexView limit, IndexView strides);

} // namespace torchere::evaluation
