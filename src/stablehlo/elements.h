// ElementsOf: elementwise arithmetic on tensors of one shape and element type, written with operators.
#pragma once

#include "stablehlo/dialect.h"

#include <limits>

namespace torchere::stablehlo {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The comparison that elements of a type have by nature: booleans and unsigned integers compare as unsigned.
inline ComparisonType naturalComparison(mlir::Type element) {
  auto integer = mlir::dyn_cast<mlir::IntegerType>(element);
  if (!integer)
    return ComparisonType::FLOAT;
  return integer.isUnsigned() || integer.getWidth() == 1 ? ComparisonType::UNSIGNED : ComparisonType::SIGNED;
}

/// A tensor in a formula. Numbers beside it stand for constants of its shape and element type. The builder
/// makes the ops: fullLike(number, tensor), elementwise<Op>(tensors), compare(direction, a, b) and
/// select(bools, a, b).
template <class Builder> class ElementsOf {
public:
  ElementsOf(Builder &builder, mlir::Value tensor) : builder(&builder), tensor(tensor) {}
  operator mlir::Value() const { return tensor; }
  /// What makes the ops.
  Builder &maker() const { return *builder; }

  /// A constant of this one's shape and element type.
  template <class Number> ElementsOf constant(const Number &value) const {
    return with(builder->fullLike(value, tensor));
  }
  /// Another tensor of this one's shape.
  ElementsOf with(mlir::Value other) const { return {*builder, other}; }

  template <class Op> ElementsOf apply() const { return with(builder->template elementwise<Op>(tensor)); }
  template <class Op> ElementsOf apply(const ElementsOf &other) const {
    return with(builder->template elementwise<Op>({tensor, other.tensor}));
  }
  ElementsOf compare(ComparisonDirection direction, const ElementsOf &other) const {
    return with(builder->compare(direction, tensor, other.tensor));
  }
  /// Where these bools hold, `onTrue`, elsewhere `onFalse`.
  ElementsOf select(const ElementsOf &onTrue, const ElementsOf &onFalse) const {
    return with(builder->select(tensor, onTrue, onFalse));
  }
  ElementsOf select(double onTrue, const ElementsOf &onFalse) const {
    return select(onFalse.constant(onTrue), onFalse);
  }
  ElementsOf select(const ElementsOf &onTrue, double onFalse) const {
    return select(onTrue, onTrue.constant(onFalse));
  }

#define TORCHERE_ELEMENTS_OPERATOR(symbol, Op)                                                               \
  friend ElementsOf operator symbol(const ElementsOf &a, const ElementsOf &b) {                              \
    return a.template apply<Op>(b);                                                                          \
  }                                                                                                          \
  friend ElementsOf operator symbol(const ElementsOf &a, double b) {                                         \
    return a.template apply<Op>(a.constant(b));                                                              \
  }                                                                                                          \
  friend ElementsOf operator symbol(double a, const ElementsOf &b) {                                         \
    return b.constant(a).template apply<Op>(b);                                                              \
  }
  TORCHERE_ELEMENTS_OPERATOR(+, AddOp)
  TORCHERE_ELEMENTS_OPERATOR(-, SubtractOp)
  TORCHERE_ELEMENTS_OPERATOR(*, MulOp)
  TORCHERE_ELEMENTS_OPERATOR(/, DivOp)
#undef TORCHERE_ELEMENTS_OPERATOR

#define TORCHERE_ELEMENTS_COMPARISON(symbol, direction)                                                      \
  friend ElementsOf operator symbol(const ElementsOf &a, const ElementsOf &b) {                              \
    return a.compare(ComparisonDirection::direction, b);                                                     \
  }                                                                                                          \
  friend ElementsOf operator symbol(const ElementsOf &a, double b) {                                         \
    return a.compare(ComparisonDirection::direction, a.constant(b));                                         \
  }
  TORCHERE_ELEMENTS_COMPARISON(<, LT)
  TORCHERE_ELEMENTS_COMPARISON(<=, LE)
  TORCHERE_ELEMENTS_COMPARISON(>, GT)
  TORCHERE_ELEMENTS_COMPARISON(>=, GE)
#undef TORCHERE_ELEMENTS_COMPARISON

  friend ElementsOf operator-(const ElementsOf &a) { return a.template apply<NegOp>(); }

private:
  Builder *builder;
  mlir::Value tensor;
};

// == and != would be ambiguous with mlir::Value's.
template <class Builder>
ElementsOf<Builder> equal(const ElementsOf<Builder> &a, const ElementsOf<Builder> &b) {
  return a.compare(ComparisonDirection::EQ, b);
}
template <class Builder> ElementsOf<Builder> equal(const ElementsOf<Builder> &a, double b) {
  return equal(a, a.constant(b));
}
template <class Builder>
ElementsOf<Builder> notEqual(const ElementsOf<Builder> &a, const ElementsOf<Builder> &b) {
  return a.compare(ComparisonDirection::NE, b);
}

#define TORCHERE_ELEMENTS_FUNCTION(name, Op)                                                                 \
  template <class Builder> ElementsOf<Builder> name(const ElementsOf<Builder> &a) {                          \
    return a.template apply<Op>();                                                                           \
  }
TORCHERE_ELEMENTS_FUNCTION(abs, AbsOp)
TORCHERE_ELEMENTS_FUNCTION(cosine, CosineOp)
TORCHERE_ELEMENTS_FUNCTION(exp, ExpOp)
TORCHERE_ELEMENTS_FUNCTION(expm1, Expm1Op)
TORCHERE_ELEMENTS_FUNCTION(floor, FloorOp)
TORCHERE_ELEMENTS_FUNCTION(log, LogOp)
TORCHERE_ELEMENTS_FUNCTION(log1p, Log1pOp)
TORCHERE_ELEMENTS_FUNCTION(sine, SineOp)
TORCHERE_ELEMENTS_FUNCTION(sqrt, SqrtOp)
TORCHERE_ELEMENTS_FUNCTION(tanh, TanhOp)
#undef TORCHERE_ELEMENTS_FUNCTION

#define TORCHERE_ELEMENTS_FUNCTION(name, Op)                                                                 \
  template <class Builder>                                                                                   \
  ElementsOf<Builder> name(const ElementsOf<Builder> &a, const ElementsOf<Builder> &b) {                     \
    return a.template apply<Op>(b);                                                                          \
  }                                                                                                          \
  template <class Builder> ElementsOf<Builder> name(const ElementsOf<Builder> &a, double b) {                \
    return name(a, a.constant(b));                                                                           \
  }
TORCHERE_ELEMENTS_FUNCTION(minimum, MinOp)
TORCHERE_ELEMENTS_FUNCTION(maximum, MaxOp)
TORCHERE_ELEMENTS_FUNCTION(power, PowOp)
#undef TORCHERE_ELEMENTS_FUNCTION

/// Of bools.
template <class Builder>
ElementsOf<Builder> both(const ElementsOf<Builder> &a, const ElementsOf<Builder> &b) {
  return a.template apply<AndOp>(b);
}
template <class Builder>
ElementsOf<Builder> either(const ElementsOf<Builder> &a, const ElementsOf<Builder> &b) {
  return a.template apply<OrOp>(b);
}

/// Whether the formula computes in float64; otherwise it does in float32.
template <class Builder> bool isDouble(const ElementsOf<Builder> &x) {
  return elementType(mlir::Value(x).getType()).isF64();
}

/// The coefficients for the precision that the formula computes in.
template <class Builder>
llvm::ArrayRef<double> precise(const ElementsOf<Builder> &x, llvm::ArrayRef<double> single,
                               llvm::ArrayRef<double> twice) {
  return isDouble(x) ? twice : single;
}

/// The polynomial with these coefficients, the constant one first, by Horner's scheme.
template <class Builder>
ElementsOf<Builder> polynomial(const ElementsOf<Builder> &x, llvm::ArrayRef<double> coefficients) {
  ElementsOf<Builder> sum = x.constant(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = sum * x + coefficients[i];
  return sum;
}

} // namespace torchere::stablehlo
