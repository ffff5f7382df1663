// Functions that look at the bits of numbers: signs, neighbours, exponents, and views as another dtype.
#include "lowering/complex.h"
#include "lowering/formula.h"
#include "lowering/op_table.h"
#include "stablehlo/chlo_dialect.h"

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// The same bits as another dtype of the same width.
mlir::Value bitsAs(Context &cx, mlir::Value value, DType dtype) {
  mlir::Type type = mlir::cast<mlir::RankedTensorType>(value.getType()).clone(cx.elementType(dtype));
  return cx.withShape(cx.create<stablehlo::BitcastConvertOp>(type, value), cx.shape(value));
}

/// Bools: of zeros and NaNs, too, by the sign's bit.
mlir::Value isNegative(Context &cx, mlir::Value value) {
  const DTypeInfo &info = dtypeInfo(Context::dtype(value));
  if (!info.isSigned)
    return cx.full(false, DType::Bool, cx.shape(value));
  if (info.isFloatingPoint)
    value = bitsAs(cx, value, signedOfWidth(info.byteSize));
  return cx.compare(Direction::LT, value, cx.fullLike(int64_t{0}, value));
}

mlir::Value signBit(Context &cx, const Args &args) {
  return isNegative(cx, args.tensor("self"));
}

mlir::Value copySign(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = toResultShape(cx, args.tensor("self"), dtype);
  mlir::Value sign = isNegative(cx, toResultShape(cx, numberOperand(cx, args, "other", dtype), dtype));
  mlir::Value magnitude = cx.elementwise<stablehlo::AbsOp>(self);
  return cx.select(sign, cx.elementwise<stablehlo::NegOp>(magnitude), magnitude);
}

/// Where the parts of a float's bits stand.
struct FloatLayout {
  DType bits;
  int64_t mantissaWidth;
  int64_t exponentMask; ///< of the exponent moved to the right
  int64_t bias;         ///< the exponent of numbers in [0.5, 1)
};

FloatLayout layoutOf(DType dtype) {
  return dtype == DType::F64 ? FloatLayout{DType::I64, 52, 0x7ff, 1022}
                             : FloatLayout{DType::I32, 23, 0xff, 126};
}

/// A mantissa in [0.5, 1) and the exponent of 2; zeros, infinities and NaN are their own mantissas. On
/// integers alone, as arithmetic on numbers below the normal ones may treat them as zeros.
Values mantissaAndExponent(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  DType dtype = Context::dtype(self), compute = computeType(dtype);
  FloatLayout layout = layoutOf(compute);
  mlir::Value number = cx.convert(self, compute);
  Elements bits(cx, bitsAs(cx, number, layout.bits));
  auto constant = [&](int64_t value) { return bits.constant(value); };
  Elements field = both(bits.apply<stablehlo::ShiftRightLogicalOp>(constant(layout.mantissaWidth)),
                        constant(layout.exponentMask));
  Elements fraction = both(bits, constant((int64_t{1} << layout.mantissaWidth) - 1));
  Elements isSubnormal = equal(field, constant(0));
  Elements isSpecial =
      either(equal(field, constant(layout.exponentMask)), both(isSubnormal, equal(fraction, constant(0))));
  // The highest bit of a number below the normal ones moves to where the others have theirs.
  auto width = static_cast<int64_t>(8 * byteSize(layout.bits));
  Elements shift = fraction.apply<stablehlo::ClzOp>() - constant(width - 1 - layout.mantissaWidth);
  Elements shifted =
      both(fraction.apply<stablehlo::ShiftLeftOp>(shift), constant((int64_t{1} << layout.mantissaWidth) - 1));
  Elements exponent = isSubnormal.select(constant(1) - shift, field) - constant(layout.bias);
  Elements sign = both(bits, constant(int64_t{-1} << (width - 1)));
  Elements mantissa = either(either(sign, constant(layout.bias << layout.mantissaWidth)),
                             isSubnormal.select(shifted, fraction));
  mlir::Value result = cx.select(isSpecial, number, bitsAs(cx, mantissa, compute));
  return {cx.convert(result, dtype), cx.convert(isSpecial.select(constant(0), exponent), DType::I32)};
}

/// self * 2^other.
mlir::Value scaledByPower(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value exponent = args.tensor("other");
  DType powerType = floatingType(Context::dtype(exponent));
  exponent = cx.convert(exponent, powerType);
  mlir::Value power = cx.elementwise<stablehlo::PowOp>({cx.fullLike(2.0, exponent), exponent});
  return cx.elementwise<stablehlo::MulOp>(
      {toResultShape(cx, args.tensor("self"), dtype), toResultShape(cx, power, dtype)});
}

/// Bits of `value`, at least one dimension, as elements of another width: the last dimension grows or
/// shrinks. Bytes come in the order of little-endian machines.
mlir::Value regroupedBits(Context &cx, mlir::Value value, DType dtype) {
  auto from = static_cast<int64_t>(byteSize(Context::dtype(value)));
  auto to = static_cast<int64_t>(byteSize(dtype));
  if (from == to)
    return bitsAs(cx, value, dtype);
  Dims shape = cx.shape(value);
  Dim last = shape.back();
  mlir::Type element = cx.elementType(dtype);
  if (from > to) {
    Dims merged = shape;
    merged.back() = cx.multiply(last, from / to);
    shape.push_back(from / to);
    mlir::Value split = cx.create<stablehlo::BitcastConvertOp>(cx.tensorType(shape, element), value);
    return cx.reshape(cx.withShape(split, shape), merged);
  }
  shape.back() = cx.floorDivide(last, to / from);
  Dims split = shape;
  split.push_back(to / from);
  mlir::Value parts = cx.reshape(value, split);
  return cx.withShape(cx.create<stablehlo::BitcastConvertOp>(cx.tensorType(shape, element), parts), shape);
}

/// The real dtype that a dtype's elements are made of in memory; bools are bytes.
DType storedType(DType dtype) {
  return dtype == DType::Bool ? DType::U8 : partType(dtype);
}

/// The tensor's memory as elements of another dtype.
Result<mlir::Value> viewAs(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  const TensorType &type = cx.resultType();
  DType from = Context::dtype(self);
  if (from == type.dtype)
    return self;
  if (Context::rank(self) == 0)
    self = cx.reshape(self, {Dim(1)});
  if (dtypeInfo(from).isComplex) {
    Dims shape = cx.shape(self);
    shape.back() = cx.multiply(shape.back(), 2);
    self = cx.reshape(partsOf(cx, self), shape);
  }
  self = regroupedBits(cx, cx.convert(self, storedType(from)), storedType(type.dtype));
  if (dtypeInfo(type.dtype).isComplex) {
    Dims shape = cx.shape(self);
    shape.back() = cx.floorDivide(shape.back(), 2);
    shape.push_back(2);
    self = fromParts(cx, cx.reshape(self, shape));
  }
  return cx.reshape(cx.convert(self, type.dtype), type.shape);
}

} // namespace

void addNumberBits(OpTable &table) {
  table.add("aten::signbit(Tensor self) -> Tensor", signBit);
  table.add("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", copySign);
  table.add("aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor", copySign);
  table.add("aten::nextafter(Tensor self, Tensor other) -> Tensor", binary<chlo::NextAfterOp>);
  table.add("aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", mantissaAndExponent);
  table.add("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", scaledByPower);
  table.add("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", viewAs);
}

} // namespace torchere::lowering
