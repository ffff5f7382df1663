// Complex numbers: their parts, conjugates, angles, and their making from parts.
#include "lowering/complex.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <numbers>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

mlir::Value viewAsReal(Context &cx, const Args &args) {
  return partsOf(cx, args.tensor("self"));
}

mlir::Value viewAsComplex(Context &cx, const Args &args) {
  return fromParts(cx, args.tensor("self"));
}

/// torch marks a tensor as conjugated; a value here is the conjugate itself, and nothing is left to resolve.
mlir::Value conjugateTensor(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  if (!dtypeInfo(Context::dtype(self)).isComplex)
    return self;
  mlir::Value imaginary = imaginaryPart(cx, self);
  return complexOf(cx, realPart(cx, self), cx.elementwise<stablehlo::NegOp>(imaginary));
}

/// From the positive real axis; of a real number 0 or pi, or NaN.
mlir::Value angle(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  if (dtypeInfo(Context::dtype(self)).isComplex)
    return cx.elementwise<stablehlo::Atan2Op>({imaginaryPart(cx, self), realPart(cx, self)});
  self = cx.convert(self, cx.resultType().dtype);
  mlir::Value zero = cx.fullLike(0.0, self);
  mlir::Value result =
      cx.select(cx.compare(Direction::LT, self, zero), cx.fullLike(std::numbers::pi, self), zero);
  return cx.select(cx.compare(Direction::NE, self, self), self, result);
}

mlir::Value polar(Context &cx, const Args &args) {
  DType part = partType(cx.resultType().dtype);
  mlir::Value magnitude = toResultShape(cx, args.tensor("abs"), part);
  mlir::Value angle = toResultShape(cx, args.tensor("angle"), part);
  return complexOf(cx,
                   cx.elementwise<stablehlo::MulOp>({magnitude, cx.elementwise<stablehlo::CosineOp>(angle)}),
                   cx.elementwise<stablehlo::MulOp>({magnitude, cx.elementwise<stablehlo::SineOp>(angle)}));
}

mlir::Value ofParts(Context &cx, const Args &args) {
  DType part = partType(cx.resultType().dtype);
  return complexOf(cx, toResultShape(cx, args.tensor("real"), part),
                   toResultShape(cx, args.tensor("imag"), part));
}

} // namespace

void addComplexNumber(OpTable &table) {
  table.add("aten::view_as_real(Tensor(a) self) -> Tensor(a)", viewAsReal);
  table.add("aten::view_as_real_copy(Tensor self) -> Tensor", viewAsReal);
  table.add("aten::view_as_complex(Tensor(a) self) -> Tensor(a)", viewAsComplex);
  table.add("aten::view_as_complex_copy(Tensor self) -> Tensor", viewAsComplex);
  table.add("aten::_conj(Tensor(a) self) -> Tensor(a)", conjugateTensor);
  table.add("aten::_conj_copy(Tensor self) -> Tensor", conjugateTensor);
  table.add("aten::_conj_physical(Tensor self) -> Tensor", conjugateTensor);
  table.add("aten::_neg_view(Tensor(a) self) -> Tensor(a)", unary<stablehlo::NegOp>);
  table.add("aten::_neg_view_copy(Tensor self) -> Tensor", unary<stablehlo::NegOp>);
  table.add("aten::angle(Tensor self) -> Tensor", angle);
  table.add("aten::polar(Tensor abs, Tensor angle) -> Tensor", polar);
  table.add("aten::complex(Tensor real, Tensor imag) -> Tensor", ofParts);
}

} // namespace torchere::lowering
