// Elementwise ops of two and three operands.
#include "interpreter/ops/elementwise.h"
#include "stablehlo/dialect.h"

namespace torchere::interpreter {

namespace {

using stablehlo::ComparisonDirection;

/// Whether `lhs` and `rhs`, which are ordered, stand as the direction says.
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

Result<Values> compare(const Call &call) {
  ComparisonDirection direction =
      call.attribute<stablehlo::ComparisonDirectionAttr>("comparison_direction").getValue();
  auto type = call.attribute<stablehlo::ComparisonTypeAttr>("compare_type");
  bool isTotal = type && type.getValue() == stablehlo::ComparisonType::TOTALORDER;
  TORCHERE_ASSIGN(Tensor result, mapElements(call.operand(0), call.operand(1), ElementType::Bool,
                                             [=](const Element &lhs, const Element &rhs) {
                                               return Element::integer(ElementType::Bool,
                                                                       holds(direction, isTotal, lhs, rhs));
                                             }));
  return Values{std::move(result)};
}

/// pred may be a scalar.
Result<Values> select(const Call &call) {
  const Tensor &pred = call.operand(0), &onTrue = call.operand(1), &onFalse = call.operand(2);
  TORCHERE_ASSIGN(Tensor result, Tensor::create(onTrue.type(), onTrue.shape()));
  for (int64_t position = 0; position < result.count(); ++position) {
    bool isTrue = pred.at(pred.rank() == 0 ? 0 : position).asBool();
    result.copyFrom(position, isTrue ? onTrue : onFalse, position);
  }
  return Values{std::move(result)};
}

/// min and max may be scalars.
Result<Values> clamp(const Call &call) {
  const Tensor &least = call.operand(0), &operand = call.operand(1), &most = call.operand(2);
  TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), operand.shape()));
  for (int64_t position = 0; position < result.count(); ++position) {
    Element atLeast = maximum(operand.at(position), least.at(least.rank() == 0 ? 0 : position));
    result.set(position, minimum(atLeast, most.at(most.rank() == 0 ? 0 : position)));
  }
  return Values{std::move(result)};
}

Result<Values> makeComplex(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(
      Tensor result,
      mapElements(call.operand(0), call.operand(1), type, [=](const Element &real, const Element &imaginary) {
        return Element::complex(type, {real.asDouble(), imaginary.asDouble()});
      }));
  return Values{std::move(result)};
}

} // namespace

void addBinary(EvaluationTable &table) {
  table.addComputation("stablehlo.add", binary<add>);
  table.add("stablehlo.and", binary<bitAnd>);
  table.addComputation("stablehlo.atan2", binary<atan2>);
  table.addComputation("stablehlo.clamp", clamp);
  table.addComputation("stablehlo.compare", compare);
  table.add("stablehlo.complex", makeComplex);
  table.addComputation("stablehlo.divide", binary<divide>);
  table.addComputation("stablehlo.maximum", binary<maximum>);
  table.addComputation("stablehlo.minimum", binary<minimum>);
  table.addComputation("stablehlo.multiply", binary<multiply>);
  table.add("stablehlo.or", binary<bitOr>);
  table.addComputation("stablehlo.power", binary<power>);
  table.addComputation("stablehlo.remainder", binary<remainder>);
  table.addComputation("stablehlo.select", select);
  table.add("stablehlo.shift_left", binary<shiftLeft>);
  table.add("stablehlo.shift_right_arithmetic", binary<shiftRightArithmetic>);
  table.add("stablehlo.shift_right_logical", binary<shiftRightLogical>);
  table.addComputation("stablehlo.subtract", binary<subtract>);
  table.add("stablehlo.xor", binary<bitXor>);
}

} // namespace torchere::interpreter
