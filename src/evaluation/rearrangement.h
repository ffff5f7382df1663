// Ops that move elements about without looking at them.
#pragma once

#include "evaluation/tensor.h"

namespace torchere::evaluation {

/// A tensor of the shape whose elements are the operand's at the positions that `source(index)` gives.
template <class Source> Result<Tensor> take(const Tensor &operand, Index shape, Source source) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), std::move(shape)));
  forEachIndex(result.shape(),
               [&](IndexView index, int64_t position) { result.copyFrom(position, operand, source(index)); });
  return result;
}

/// The tensors one after the other along a dimension.
Result<Tensor> concatenate(int64_t dimension, std::span<const Tensor> tensors);
/// A part of `size` indices along a dimension, from the index `start` on.
Result<Tensor> partAlong(int64_t dimension, const Tensor &tensor, int64_t start, int64_t size);
/// The index along a dimension.
Result<Tensor> iota(ElementType type, Index shape, int64_t dimension);
/// Dimension i of the operand becomes dimension `dimensions[i]`. InvalidArgument when the shape does not fit.
Result<Tensor> broadcastInDim(const Tensor &operand, Index shape, IndexView dimensions);
/// Dimension `permutation[i]` of the operand becomes dimension i.
Result<Tensor> transpose(const Tensor &operand, IndexView permutation);
/// The other way round along these dimensions.
Result<Tensor> reverse(const Tensor &operand, IndexView dimensions);
/// With the scalar `padding` around the operand and between its elements; negative amounts cut off.
/// InvalidArgument when the amounts do not fit.
Result<Tensor> pad(const Tensor &operand, const Tensor &padding, IndexView low, IndexView high,
                   IndexView interior);
/// Every stride-th index from `start` to before `limit`. InvalidArgument when the indices do not fit.
Result<Tensor> slice(const Tensor &operand, IndexView start, IndexView limit, IndexView strides);

} // namespace torchere::evaluation
