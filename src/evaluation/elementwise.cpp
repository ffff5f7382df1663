// Implements comparison, selection and clamping.
#include "evaluation/elementwise.h"

namespace torchere::evaluation {

namespace {

using stablehlo::ComparisonDirection;

/// Whether `lhs` and `rhs`, which are ordered, compare as the direction requires.
template <class Number> bool holds(ComparisonDirection direction, Number lhs, Number rhs) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return lhs == rhs;
  case ComparisonDirection::NE:
    return lhs != rhs;
  case ComparisonDirection::GE:
    return lhs >= rhs;
  case ComparisonDirection::GT:
    return lhs > rhs;
  case ComparisonDirection::LE:
    return lhs <= rhs;
  case ComparisonDirection::LT:
    return lhs < rhs;
  }
  return false;
}

bool holdsTotally(ComparisonDirection direction, double lhs, double rhs) {
  int order = isTotallyLess(lhs, rhs) ? -1 : isTotallyLess(rhs, lhs) ? 1 : 0;
  return holds(direction, order, 0);
}

/// The position of a scalar's only element, or this position for any other tensor.
int64_t placeIn(const Tensor &tensor, int64_t position) {
  return tensor.rank() == 0 ? 0 : position;
}

} // namespace

bool holds(ComparisonDirection direction, bool isTotal, const Element &lhs, const Element &rhs) {
  switch (elementTypeInfo(lhs.type()).kind) {
  case ElementKind::Signed:
    return holds(direction, lhs.asSigned(), rhs.asSigned());
  case ElementKind::Bool:
  case ElementKind::Unsigned:
    return holds(direction, lhs.asUnsigned(), rhs.asUnsigned());
  case ElementKind::Complex:
    return (lhs.asComplex() == rhs.asComplex()) == (direction == ComparisonDirection::EQ);
  case ElementKind::Float:
    return isTotal ? holdsTotally(direction, lhs.asDouble(), rhs.asDouble())
                   : holds(direction, lhs.asDouble(), rhs.asDouble());
  }
  return false;
}

Result<Tensor> compare(stablehlo::CompareOp op, const Tensor &lhs, const Tensor &rhs) {
  ComparisonDirection direction = op.getComparisonDirection();
  bool isTotal = op.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  return mapElements(lhs, rhs, ElementType::Bool, [=](const Element &left, const Element &right) {
    return Element::integer(ElementType::Bool, holds(direction, isTotal, left, right));
  });
}

Result<Tensor> select(const Tensor &pred, const Tensor &onTrue, const Tensor &onFalse) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(onTrue.type(), onTrue.shape()));
  for (int64_t position = 0; position < result.count(); ++position)
    result.copyFrom(position, pred.at(placeIn(pred, position)).asBool() ? onTrue : onFalse, position);
  return result;
}

Result<Tensor> clamp(const Tensor &least, const Tensor &operand, const Tensor &most) {
  TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), operand.shape()));
  for (int64_t position = 0; position < result.count(); ++position) {
    Element atLeast = maximum(operand.at(position), least.at(placeIn(least, position)));
    result.set(position, minimum(atLeast, most.at(placeIn(most, position))));
  }
  return result;
}

} // namespace torchere::evaluation
