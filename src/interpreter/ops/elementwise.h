// Evaluations made of a function on elements.
#pragma once

#include "interpreter/call.h"

namespace torchere::interpreter {

/// The operand's elements, each mapped.
template <class Function> Result<Tensor> mapElements(const Tensor &operand, ElementType type, Function map) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, operand.shape()));
  for (int64_t position = 0; position < result.count(); ++position)
    result.set(position, map(operand.at(position)));
  return result;
}

/// Pairs of elements, each mapped. The shapes are equal.
template <class Function>
Result<Tensor> mapElements(const Tensor &lhs, const Tensor &rhs, ElementType type, Function map) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, lhs.shape()));
  for (int64_t position = 0; position < result.count(); ++position)
    result.set(position, map(lhs.at(position), rhs.at(position)));
  return result;
}

template <Element (*function)(const Element &)> Result<Values> unary(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Tensor result, mapElements(call.operand(0), type, function));
  return Values{std::move(result)};
}

template <Element (*function)(const Element &, const Element &)> Result<Values> binary(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Tensor result, mapElements(call.operand(0), call.operand(1), type, function));
  return Values{std::move(result)};
}

} // namespace torchere::interpreter
