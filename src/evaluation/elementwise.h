// Ops on tensors that are computed element by element.
#pragma once

#include "evaluation/tensor.h"
#include "stablehlo/dialect.h"

namespace torchere::evaluation {

/// Maps the operand's elements.
template <class Function> Result<Tensor> mapElements(const Tensor &operand, ElementType type, Function map) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, operand.shape()));
  for (int64_t position = 0; position < result.count(); ++position)
    result.set(position, map(operand.at(position)));
  return result;
}

/// Maps pairs of elements. The shapes are equal.
template <class Function>
Result<Tensor> mapElements(const Tensor &lhs, const Tensor &rhs, ElementType type, Function map) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, lhs.shape()));
  for (int64_t position = 0; position < result.count(); ++position)
    result.set(position, map(lhs.at(position), rhs.at(position)));
  return result;
}

/// Whether the elements compare as the direction requires. Floats compare as in IEEE 754, or in its total
/// order; complex numbers only as equal or not.
bool holds(stablehlo::ComparisonDirection direction, bool isTotal, const Element &lhs, const Element &rhs);
/// A comparison's bools.
Result<Tensor> compare(stablehlo::CompareOp op, const Tensor &lhs, const Tensor &rhs);
/// `onTrue` where `pred` (which may be a scalar) holds, otherwise `onFalse`.
Result<Tensor> select(const Tensor &pred, const Tensor &onTrue, const Tensor &onFalse);
/// The operand clamped to `least` and `most`, which may be scalars.
Result<Tensor> clamp(const Tensor &least, const Tensor &operand, const Tensor &most);

} // namespace torchere::evaluation
