// What the static and the dynamic forms of ops that rearrange elements have in common.
#pragma once

#include "interpreter/call.h"

namespace torchere::interpreter {

/// A tensor of the shape whose elements are the operand's at the positions that `source(index)` gives.
template <class Source> Result<Values> take(const Tensor &operand, Index shape, Source source) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), std::move(shape)));
  forEachIndex(result.shape(),
               [&](IndexView index, int64_t position) { result.copyFrom(position, operand, source(index)); });
  return Values{std::move(result)};
}

/// The tensors one after the other along a dimension.
Result<Tensor> concatenateAlong(int64_t dimension, std::span<const Tensor> tensors);
/// A part of `size` indices along a dimension, from the index `start` on.
Result<Tensor> partAlong(int64_t dimension, const Tensor &tensor, int64_t start, int64_t size);

/// iota, by the attribute iota_dimension.
Result<Values> iotaOf(const Call &call, Index shape);
/// broadcast_in_dim of operand 0, by the attribute broadcast_dimensions. InvalidArgument when the shape does
/// not fit.
Result<Values> broadcastTo(const Call &call, Index shape);
/// pad of operand 0 with operand 1. InvalidArgument when the amounts do not fit.
Result<Values> padBy(const Call &call, const Index &low, const Index &high, const Index &interior);
/// slice of operand 0. InvalidArgument when the indices do not fit.
Result<Values> sliceBy(const Call &call, const Index &start, const Index &limit, const Index &strides);

} // namespace torchere::interpreter
