// Elementwise functions of one tensor.
#include "lowering/complex.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <cmath>
#include <limits>

namespace torchere::lowering {

namespace {

mlir::Value reciprocal(Context &cx, const Args &args) {
  mlir::Value self = cx.convert(args.tensor("self"), cx.resultType().dtype);
  return cx.elementwise<stablehlo::DivOp>({cx.fullLike(1.0, self), self});
}

mlir::Value square(Context &cx, const Args &args) {
  mlir::Value self = cx.convert(args.tensor("self"), cx.resultType().dtype);
  return cx.elementwise<stablehlo::MulOp>({self, self});
}

/// The parts of complex numbers apart: an infinite one times 0 would make the other NaN.
mlir::Value scaled(Context &cx, mlir::Value value, double factor) {
  if (dtypeInfo(Context::dtype(value)).isComplex)
    return complexOf(cx, scaled(cx, realPart(cx, value), factor),
                     scaled(cx, imaginaryPart(cx, value), factor));
  return cx.elementwise<stablehlo::MulOp>({value, cx.fullLike(factor, value)});
}

mlir::Value logBase(Context &cx, const Args &args, double base) {
  return scaled(cx, unary<stablehlo::LogOp>(cx, args), 1.0 / std::log(base));
}

/// 2 to the power of self.
mlir::Value powerOfTwo(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), dtype);
  if (!dtypeInfo(dtype).isComplex)
    return cx.elementwise<stablehlo::PowOp>({cx.fullLike(2.0, self), self});
  return cx.elementwise<stablehlo::ExpOp>(scaled(cx, self, std::log(2.0)));
}

/// Integers are returned as they are; StableHLO's rounding ops take floats only.
template <class Op> mlir::Value rounding(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return dtypeInfo(Context::dtype(self)).isFloatingPoint ? cx.elementwise<Op>(self) : self;
}

/// To a multiple of 10^-decimals: from the product with a power of ten, or the quotient by one.
mlir::Value roundToDecimals(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  if (!dtypeInfo(Context::dtype(self)).isFloatingPoint)
    return self;
  int64_t decimals = args.integer("decimals");
  mlir::Value power = cx.fullLike(std::pow(10.0, std::abs(static_cast<double>(decimals))), self);
  auto multiply = [&](mlir::Value x) { return cx.elementwise<stablehlo::MulOp>({x, power}); };
  auto divide = [&](mlir::Value x) { return cx.elementwise<stablehlo::DivOp>({x, power}); };
  mlir::Value rounded =
      cx.elementwise<stablehlo::RoundNearestEvenOp>(decimals < 0 ? divide(self) : multiply(self));
  return decimals < 0 ? multiply(rounded) : divide(rounded);
}

mlir::Value trunc(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return dtypeInfo(Context::dtype(self)).isFloatingPoint ? truncate(cx, self) : self;
}

/// The sign of NaN is 0 in torch and NaN in StableHLO.
mlir::Value sign(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  if (Context::dtype(self) == DType::Bool)
    return self;
  if (!dtypeInfo(Context::dtype(self)).isFloatingPoint && !dtypeInfo(Context::dtype(self)).isSigned)
    return cx.convert(cx.compare(stablehlo::ComparisonDirection::NE, self, cx.fullLike(int64_t{0}, self)),
                      Context::dtype(self));
  mlir::Value value = cx.elementwise<stablehlo::SignOp>(self);
  if (!dtypeInfo(Context::dtype(self)).isFloatingPoint)
    return value;
  mlir::Value isNan = cx.compare(stablehlo::ComparisonDirection::NE, self, self);
  return cx.select(isNan, cx.fullLike(0.0, self), value);
}

/// Of a complex number its direction: the number of absolute value 1, or 0. An infinite part gives NaN, as in
/// torch.
mlir::Value signOrDirection(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  if (!dtypeInfo(Context::dtype(self)).isComplex)
    return sign(cx, args);
  mlir::Value length = magnitude(cx, self);
  mlir::Value zero = cx.fullLike(0.0, length);
  mlir::Value isZero = cx.compare(stablehlo::ComparisonDirection::EQ, length, zero);
  auto part = [&](mlir::Value value) {
    return cx.select(isZero, zero, cx.elementwise<stablehlo::DivOp>({value, length}));
  };
  return complexOf(cx, part(realPart(cx, self)), part(imaginaryPart(cx, self)));
}

mlir::Value absolute(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return dtypeInfo(Context::dtype(self)).isSigned ? magnitude(cx, self) : self;
}

mlir::Value logicalNot(Context &cx, const Args &args) {
  return cx.elementwise<stablehlo::NotOp>(cx.convert(args.tensor("self"), DType::Bool));
}

mlir::Value isNan(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return cx.compare(stablehlo::ComparisonDirection::NE, self, self);
}

/// Whether elements are one of the infinities, which integers are not.
template <int sign> mlir::Value isInfinity(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  if (!dtypeInfo(Context::dtype(self)).isFloatingPoint)
    return cx.full(false, DType::Bool, cx.shape(self));
  return cx.compare(stablehlo::ComparisonDirection::EQ, self,
                    cx.fullLike(sign * std::numeric_limits<double>::infinity(), self));
}

mlir::Value hasInfiniteMagnitude(Context &cx, mlir::Value value) {
  mlir::Value magnitude = cx.elementwise<stablehlo::AbsOp>(value);
  return cx.compare(stablehlo::ComparisonDirection::EQ, magnitude,
                    cx.fullLike(std::numeric_limits<double>::infinity(), magnitude));
}

/// Of a complex number, whether either part is.
mlir::Value isInfinite(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  const DTypeInfo &info = dtypeInfo(Context::dtype(self));
  if (info.isComplex)
    return cx.elementwise<stablehlo::OrOp>(
        {hasInfiniteMagnitude(cx, realPart(cx, self)), hasInfiniteMagnitude(cx, imaginaryPart(cx, self))});
  return info.isFloatingPoint ? hasInfiniteMagnitude(cx, self) : cx.full(false, DType::Bool, cx.shape(self));
}

} // namespace

void addUnary(OpTable &table) {
  table.add("aten::abs(Tensor self) -> Tensor", absolute);
  table.add("aten::neg(Tensor self) -> Tensor", unary<stablehlo::NegOp>);
  table.add("aten::exp(Tensor self) -> Tensor", unary<stablehlo::ExpOp>);
  table.add("aten::exp2(Tensor self) -> Tensor", powerOfTwo);
  table.add("aten::expm1(Tensor self) -> Tensor", unary<stablehlo::Expm1Op>);
  table.add("aten::log(Tensor self) -> Tensor", unary<stablehlo::LogOp>);
  table.add("aten::log1p(Tensor self) -> Tensor", unary<stablehlo::Log1pOp>);
  table.add("aten::log2(Tensor self) -> Tensor",
            [](Context &cx, const Args &args) { return logBase(cx, args, 2.0); });
  table.add("aten::log10(Tensor self) -> Tensor",
            [](Context &cx, const Args &args) { return logBase(cx, args, 10.0); });
  table.add("aten::sqrt(Tensor self) -> Tensor", unary<stablehlo::SqrtOp>);
  table.add("aten::rsqrt(Tensor self) -> Tensor", unary<stablehlo::RsqrtOp>);
  table.add("aten::sin(Tensor self) -> Tensor", unary<stablehlo::SineOp>);
  table.add("aten::cos(Tensor self) -> Tensor", unary<stablehlo::CosineOp>);
  table.add("aten::tanh(Tensor self) -> Tensor", unary<stablehlo::TanhOp>);
  table.add("aten::sigmoid(Tensor self) -> Tensor", unary<stablehlo::LogisticOp>);
  table.add("aten::reciprocal(Tensor self) -> Tensor", reciprocal);
  table.add("aten::square(Tensor self) -> Tensor", square);
  table.add("aten::floor(Tensor self) -> Tensor", rounding<stablehlo::FloorOp>);
  table.add("aten::ceil(Tensor self) -> Tensor", rounding<stablehlo::CeilOp>);
  table.add("aten::round(Tensor self) -> Tensor", rounding<stablehlo::RoundNearestEvenOp>);
  table.add("aten::round.decimals(Tensor self, *, int decimals) -> Tensor", roundToDecimals);
  table.add("aten::trunc(Tensor self) -> Tensor", trunc);
  table.add("aten::sign(Tensor self) -> Tensor", sign);
  table.add("aten::sgn(Tensor self) -> Tensor", signOrDirection);
  table.add("aten::logical_not(Tensor self) -> Tensor", logicalNot);
  table.add("aten::bitwise_not(Tensor self) -> Tensor", unary<stablehlo::NotOp>);
  table.add("aten::isnan(Tensor self) -> Tensor", isNan);
  table.add("aten::isinf(Tensor self) -> Tensor", isInfinite);
  table.add("aten::isposinf(Tensor self) -> Tensor", isInfinity<1>);
  table.add("aten::isneginf(Tensor self) -> Tensor", isInfinity<-1>);
}

} // namespace torchere::lowering
