// Elements: elementwise arithmetic on tensors of one shape and element type, written with operators.
#pragma once

#include "lowering/context.h"

#include <vector>

namespace torchere::lowering {

/// A tensor in a formula. Numbers beside it stand for constants of its shape and element type.
class Elements {
public:
  Elements(Context &cx, mlir::Value tensor) : cx(&cx), tensor(tensor) {}
  operator mlir::Value() const { return tensor; }

  /// A constant of this one's shape and element type.
  Elements constant(const Scalar &value) const { return {*cx, cx->fullLike(value, tensor)}; }

  template <class Op> Elements apply() const { return {*cx, cx->elementwise<Op>(tensor)}; }
  template <class Op> Elements apply(const Elements &other) const {
    return {*cx, cx->elementwise<Op>({tensor, other.tensor})};
  }
  Elements compare(stablehlo::ComparisonDirection direction, const Elements &other) const {
    return {*cx, cx->compare(direction, tensor, other.tensor)};
  }
  /// Where these bools hold, `onTrue`, elsewhere `onFalse`.
  Elements select(const Elements &onTrue, const Elements &onFalse) const {
    return {*cx, cx->select(tensor, onTrue, onFalse)};
  }

private:
  Context *cx;
  mlir::Value tensor;
};

#define TORCHERE_ELEMENTS_OPERATOR(symbol, Op)                                                               \
  inline Elements operator symbol(const Elements &a, const Elements &b) {                                    \
    return a.apply<stablehlo::Op>(b);                                                                        \
  }                                                                                                          \
  inline Elements operator symbol(const Elements &a, double b) {                                             \
    return a.apply<stablehlo::Op>(a.constant(b));                                                            \
  }                                                                                                          \
  inline Elements operator symbol(double a, const Elements &b) {                                             \
    return b.constant(a).apply<stablehlo::Op>(b);                                                            \
  }
TORCHERE_ELEMENTS_OPERATOR(+, AddOp)
TORCHERE_ELEMENTS_OPERATOR(-, SubtractOp)
TORCHERE_ELEMENTS_OPERATOR(*, MulOp)
TORCHERE_ELEMENTS_OPERATOR(/, DivOp)
#undef TORCHERE_ELEMENTS_OPERATOR

#define TORCHERE_ELEMENTS_COMPARISON(symbol, direction)                                                      \
  inline Elements operator symbol(const Elements &a, const Elements &b) {                                    \
    return a.compare(stablehlo::ComparisonDirection::direction, b);                                          \
  }                                                                                                          \
  inline Elements operator symbol(const Elements &a, double b) {                                             \
    return a.compare(stablehlo::ComparisonDirection::direction, a.constant(b));                              \
  }
TORCHERE_ELEMENTS_COMPARISON(<, LT)
TORCHERE_ELEMENTS_COMPARISON(<=, LE)
TORCHERE_ELEMENTS_COMPARISON(>, GT)
TORCHERE_ELEMENTS_COMPARISON(>=, GE)
#undef TORCHERE_ELEMENTS_COMPARISON

inline Elements operator-(const Elements &a) {
  return a.apply<stablehlo::NegOp>();
}

inline Elements abs(const Elements &a) {
  return a.apply<stablehlo::AbsOp>();
}
inline Elements exp(const Elements &a) {
  return a.apply<stablehlo::ExpOp>();
}
inline Elements expm1(const Elements &a) {
  return a.apply<stablehlo::Expm1Op>();
}
inline Elements log(const Elements &a) {
  return a.apply<stablehlo::LogOp>();
}
inline Elements log1p(const Elements &a) {
  return a.apply<stablehlo::Log1pOp>();
}
inline Elements sqrt(const Elements &a) {
  return a.apply<stablehlo::SqrtOp>();
}
inline Elements tanh(const Elements &a) {
  return a.apply<stablehlo::TanhOp>();
}
inline Elements minimum(const Elements &a, double b) {
  return a.apply<stablehlo::MinOp>(a.constant(b));
}
inline Elements maximum(const Elements &a, double b) {
  return a.apply<stablehlo::MaxOp>(a.constant(b));
}

/// The polynomial with these coefficients, the constant one first, by Horner's scheme.
inline Elements polynomial(const Elements &x, const std::vector<double> &coefficients) {
  Elements sum = x.constant(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = sum * x + coefficients[i];
  return sum;
}

} // namespace torchere::lowering
