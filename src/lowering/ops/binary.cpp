// Elementwise functions of two tensors: arithmetic, extrema, logic, and selection.
#include "lowering/complex.h"
#include "lowering/formula.h"
#include "lowering/op_table.h"

#include <limits>
#include <optional>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Whether a remainder is nonzero and its sign differs from the divisor's: where floor and truncation differ.
mlir::Value roundsTowardsZero(Context &cx, mlir::Value remainder, mlir::Value divisor) {
  mlir::Value zero = cx.fullLike(int64_t{0}, divisor);
  mlir::Value hasRemainder = cx.compare(Direction::NE, remainder, zero);
  mlir::Value signsDiffer = cx.compare(Direction::NE, cx.compare(Direction::LT, remainder, zero),
                                       cx.compare(Direction::LT, divisor, zero));
  return cx.elementwise<stablehlo::AndOp>({hasRemainder, signsDiffer});
}

/// Python's floor division. For floats as torch defines it (c10::div_floor_floating), from the exact
/// remainder: 1 // 0.1 is 9. Division by zero gives the same as `/`.
mlir::Value floorDivide(Context &cx, mlir::Value a, mlir::Value b) {
  mlir::Value remainder = cx.elementwise<stablehlo::RemOp>({a, b});
  mlir::Value adjust = roundsTowardsZero(cx, remainder, b);
  mlir::Value one = cx.fullLike(int64_t{1}, a);
  if (!dtypeInfo(Context::dtype(a)).isFloatingPoint) {
    mlir::Value quotient = cx.elementwise<stablehlo::DivOp>({a, b});
    return cx.select(adjust, cx.elementwise<stablehlo::SubtractOp>({quotient, one}), quotient);
  }
  mlir::Value exact = cx.elementwise<stablehlo::SubtractOp>({a, remainder});
  mlir::Value quotient = cx.elementwise<stablehlo::DivOp>({exact, b});
  quotient = cx.select(adjust, cx.elementwise<stablehlo::SubtractOp>({quotient, one}), quotient);
  mlir::Value floor = cx.elementwise<stablehlo::FloorOp>(quotient);
  mlir::Value excess = cx.elementwise<stablehlo::SubtractOp>({quotient, floor});
  mlir::Value roundUp = cx.compare(Direction::GT, excess, cx.fullLike(0.5, excess));
  floor = cx.select(roundUp, cx.elementwise<stablehlo::AddOp>({floor, one}), floor);
  mlir::Value byZero = cx.compare(Direction::EQ, b, cx.fullLike(0.0, b));
  return cx.select(byZero, cx.elementwise<stablehlo::DivOp>({a, b}), floor);
}

/// torch.remainder: the result has the divisor's sign.
mlir::Value remainder(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value a = toResultShape(cx, numberOperand(cx, args, "self", dtype), dtype);
  mlir::Value b = toResultShape(cx, numberOperand(cx, args, "other", dtype), dtype);
  mlir::Value result = cx.elementwise<stablehlo::RemOp>({a, b});
  return cx.select(roundsTowardsZero(cx, result, b), cx.elementwise<stablehlo::AddOp>({result, b}), result);
}

/// self + alpha * other, or self - alpha * other.
template <class Op> mlir::Value scaledSum(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = toResultShape(cx, args.tensor("self"), dtype);
  mlir::Value other = numberOperand(cx, args, "other", dtype);
  bool isPlain = !args.isTensor("alpha") && args.scalar("alpha") == Scalar(int64_t{1});
  if (!isPlain) {
    mlir::Value alpha = cx.broadcastTo(numberOperand(cx, args, "alpha", dtype), cx.shape(other));
    other = cx.elementwise<stablehlo::MulOp>({other, alpha});
  }
  return cx.elementwise<Op>({self, toResultShape(cx, other, dtype)});
}

mlir::Value reverseSubtract(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = args.tensor("self");
  self = cx.convert(self, dtype);
  mlir::Value alpha = cx.broadcastTo(numberOperand(cx, args, "alpha", dtype), cx.shape(self));
  mlir::Value scaled = toResultShape(cx, cx.elementwise<stablehlo::MulOp>({self, alpha}), dtype);
  mlir::Value other = toResultShape(cx, numberOperand(cx, args, "other", dtype), dtype);
  return cx.elementwise<stablehlo::SubtractOp>({other, scaled});
}

mlir::Value divideDown(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value a = toResultShape(cx, args.tensor("self"), dtype);
  return floorDivide(cx, a, toResultShape(cx, numberOperand(cx, args, "other", dtype), dtype));
}

Result<mlir::Value> divideRounded(Context &cx, const Args &args) {
  auto mode = args.optionalString("rounding_mode");
  if (!mode)
    return binary<stablehlo::DivOp>(cx, args);
  if (*mode != "floor" && *mode != "trunc")
    return cx.invalid("unknown rounding_mode: got '{}', expected 'floor' or 'trunc'", *mode);
  if (*mode == "floor")
    return divideDown(cx, args);
  DType dtype = cx.resultType().dtype;
  mlir::Value a = toResultShape(cx, args.tensor("self"), dtype);
  mlir::Value b = toResultShape(cx, numberOperand(cx, args, "other", dtype), dtype);
  mlir::Value quotient = cx.elementwise<stablehlo::DivOp>({a, b});
  return dtypeInfo(dtype).isFloatingPoint ? truncate(cx, quotient) : quotient;
}

/// The power of floats for exponents that take a few products, as eager computes them; none for others.
std::optional<Elements> productsOf(const Elements &x, const Scalar &exponent) {
  if (equals(exponent, 4.0)) {
    Elements square = x * x;
    return square * square;
  }
  if (equals(exponent, -0.5))
    return x.apply<stablehlo::RsqrtOp>();
  if (equals(exponent, -1.0))
    return 1.0 / x;
  if (equals(exponent, -2.0))
    return 1.0 / (x * x);
  return std::nullopt;
}

mlir::Value power(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = toResultShape(cx, numberOperand(cx, args, "self", dtype), dtype);
  if (!args.isTensor("exponent")) {
    Scalar exponent = args.scalar("exponent");
    bool isFloat = dtypeInfo(dtype).isFloatingPoint;
    if (equals(exponent, 2.0))
      return cx.elementwise<stablehlo::MulOp>({self, self});
    if (equals(exponent, 1.0))
      return self;
    if (isFloat && equals(exponent, 3.0)) // rounded twice in half precision, as in eager
      return cx.elementwise<stablehlo::MulOp>({cx.elementwise<stablehlo::MulOp>({self, self}), self});
    if (isFloat && equals(exponent, 0.5))
      return cx.elementwise<stablehlo::SqrtOp>(self);
    if (isFloat)
      if (auto made = productsOf({cx, cx.convert(self, computeType(dtype))}, exponent))
        return cx.convert(*made, dtype);
  }
  mlir::Value exponent = toResultShape(cx, numberOperand(cx, args, "exponent", dtype), dtype);
  return cx.elementwise<stablehlo::PowOp>({self, exponent});
}

/// The length of the hypotenuse: the magnitude of a complex number. Of an infinite side it is infinite, even
/// beside NaN.
mlir::Value hypotenuse(Context &cx, const Args &args) {
  Elements self = formulaOperand(cx, args, "self"), other = formulaOperand(cx, args, "other");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Elements isInfinite = either(equal(abs(self), infinity), equal(abs(other), infinity));
  Elements finite = self.with(magnitude(cx, complexOf(cx, self, other)));
  return cx.convert(isInfinite.select(infinity, finite), cx.resultType().dtype);
}

/// fmax and fmin: of a number and a NaN, the number.
template <class Op> mlir::Value ignoringNan(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value a = toResultShape(cx, args.tensor("self"), dtype);
  mlir::Value b = toResultShape(cx, args.tensor("other"), dtype);
  mlir::Value result = cx.elementwise<Op>({a, b});
  if (!dtypeInfo(dtype).isFloatingPoint)
    return result;
  result = cx.select(cx.compare(Direction::NE, a, a), b, result);
  return cx.select(cx.compare(Direction::NE, b, b), a, result);
}

template <Direction direction> mlir::Value comparison(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  mlir::Value other = args.isTensor("other") ? args.tensor("other") : cx.number(args.scalar("other"));
  DType dtype = promotedType(cx, {self, other});
  return cx.compare(direction, toResultShape(cx, self, dtype), toResultShape(cx, other, dtype));
}

template <class Op> mlir::Value logical(Context &cx, const Args &args) {
  return cx.elementwise<Op>({toResultShape(cx, args.tensor("self"), DType::Bool),
                             toResultShape(cx, args.tensor("other"), DType::Bool)});
}

mlir::Value where(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  return cx.select(toResultShape(cx, args.tensor("condition"), DType::Bool),
                   toResultShape(cx, numberOperand(cx, args, "self", dtype), dtype),
                   toResultShape(cx, numberOperand(cx, args, "other", dtype), dtype));
}

mlir::Value maskedFill(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value value = toResultShape(cx, numberOperand(cx, args, "value", dtype), dtype);
  return cx.select(toResultShape(cx, args.tensor("mask"), DType::Bool), value,
                   toResultShape(cx, args.tensor("self"), dtype));
}

mlir::Value clamp(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value result = toResultShape(cx, args.tensor("self"), dtype);
  if (args.has("min") && !args.isNone("min"))
    result = cx.elementwise<stablehlo::MaxOp>(
        {result, toResultShape(cx, numberOperand(cx, args, "min", dtype), dtype)});
  if (args.has("max") && !args.isNone("max"))
    result = cx.elementwise<stablehlo::MinOp>(
        {result, toResultShape(cx, numberOperand(cx, args, "max", dtype), dtype)});
  return result;
}

/// self + value * tensor1 * tensor2, or with a quotient in place of the product.
template <class Op> mlir::Value addCombined(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  DType compute = computeType(dtype);
  auto operand = [&](std::string_view name) { return toResultShape(cx, args.tensor(name), compute); };
  mlir::Value factor = toResultShape(cx, numberOperand(cx, args, "value", compute), compute);
  mlir::Value scaled = cx.elementwise<stablehlo::MulOp>({factor, operand("tensor1")});
  mlir::Value combined = cx.elementwise<Op>({scaled, operand("tensor2")});
  return cx.convert(cx.elementwise<stablehlo::AddOp>({operand("self"), combined}), dtype);
}

/// self + weight * (end - self), from the nearer end.
mlir::Value lerp(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  DType compute = computeType(dtype);
  mlir::Value self = toResultShape(cx, args.tensor("self"), compute);
  mlir::Value end = toResultShape(cx, args.tensor("end"), compute);
  mlir::Value weight = toResultShape(cx, numberOperand(cx, args, "weight", compute), compute);
  mlir::Value distance = cx.elementwise<stablehlo::SubtractOp>({end, self});
  mlir::Value fromSelf =
      cx.elementwise<stablehlo::AddOp>({self, cx.elementwise<stablehlo::MulOp>({weight, distance})});
  mlir::Value rest = cx.elementwise<stablehlo::SubtractOp>({cx.fullLike(1.0, weight), weight});
  mlir::Value fromEnd =
      cx.elementwise<stablehlo::SubtractOp>({end, cx.elementwise<stablehlo::MulOp>({distance, rest})});
  mlir::Value size = magnitude(cx, weight);
  mlir::Value isNear = cx.compare(Direction::LT, size, cx.fullLike(0.5, size));
  return cx.convert(cx.select(isNear, fromSelf, fromEnd), dtype);
}

} // namespace

void addBinary(OpTable &table) {
  table.add("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            scaledSum<stablehlo::AddOp>);
  table.add("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
            scaledSum<stablehlo::AddOp>);
  table.add("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            scaledSum<stablehlo::SubtractOp>);
  table.add("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
            scaledSum<stablehlo::SubtractOp>);
  table.add("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", reverseSubtract);
  table.add("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", binary<stablehlo::MulOp>);
  table.add("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", binary<stablehlo::MulOp>);
  table.add("aten::div.Tensor(Tensor self, Tensor other) -> Tensor", binary<stablehlo::DivOp>);
  table.add("aten::div.Scalar(Tensor self, Scalar other) -> Tensor", binary<stablehlo::DivOp>);
  table.add("aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
            divideRounded);
  table.add("aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
            divideRounded);
  table.add("aten::floor_divide(Tensor self, Tensor other) -> Tensor", divideDown);
  table.add("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", divideDown);
  table.add("aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
            addCombined<stablehlo::MulOp>);
  table.add("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
            addCombined<stablehlo::DivOp>);
  table.add("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", lerp);
  table.add("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", lerp);
  table.add("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", remainder);
  table.add("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", remainder);
  table.add("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", binary<stablehlo::RemOp>);
  table.add("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", binary<stablehlo::RemOp>);
  table.add("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", power);
  table.add("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", power);
  table.add("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", power);
  table.add("aten::maximum(Tensor self, Tensor other) -> Tensor", binary<stablehlo::MaxOp>);
  table.add("aten::minimum(Tensor self, Tensor other) -> Tensor", binary<stablehlo::MinOp>);
  table.add("aten::hypot(Tensor self, Tensor other) -> Tensor", hypotenuse);
  table.add("aten::max.other(Tensor self, Tensor other) -> Tensor", binary<stablehlo::MaxOp>);
  table.add("aten::min.other(Tensor self, Tensor other) -> Tensor", binary<stablehlo::MinOp>);
  table.add("aten::fmax(Tensor self, Tensor other) -> Tensor", ignoringNan<stablehlo::MaxOp>);
  table.add("aten::fmin(Tensor self, Tensor other) -> Tensor", ignoringNan<stablehlo::MinOp>);
  table.add("aten::eq.Tensor(Tensor self, Tensor other) -> Tensor", comparison<Direction::EQ>);
  table.add("aten::eq.Scalar(Tensor self, Scalar other) -> Tensor", comparison<Direction::EQ>);
  table.add("aten::ne.Tensor(Tensor self, Tensor other) -> Tensor", comparison<Direction::NE>);
  table.add("aten::ne.Scalar(Tensor self, Scalar other) -> Tensor", comparison<Direction::NE>);
  table.add("aten::lt.Tensor(Tensor self, Tensor other) -> Tensor", comparison<Direction::LT>);
  table.add("aten::lt.Scalar(Tensor self, Scalar other) -> Tensor", comparison<Direction::LT>);
  table.add("aten::le.Tensor(Tensor self, Tensor other) -> Tensor", comparison<Direction::LE>);
  table.add("aten::le.Scalar(Tensor self, Scalar other) -> Tensor", comparison<Direction::LE>);
  table.add("aten::gt.Tensor(Tensor self, Tensor other) -> Tensor", comparison<Direction::GT>);
  table.add("aten::gt.Scalar(Tensor self, Scalar other) -> Tensor", comparison<Direction::GT>);
  table.add("aten::ge.Tensor(Tensor self, Tensor other) -> Tensor", comparison<Direction::GE>);
  table.add("aten::ge.Scalar(Tensor self, Scalar other) -> Tensor", comparison<Direction::GE>);
  table.add("aten::logical_and(Tensor self, Tensor other) -> Tensor", logical<stablehlo::AndOp>);
  table.add("aten::logical_or(Tensor self, Tensor other) -> Tensor", logical<stablehlo::OrOp>);
  table.add("aten::logical_xor(Tensor self, Tensor other) -> Tensor", logical<stablehlo::XorOp>);
  table.add("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", where);
  table.add("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", where);
  table.add("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", where);
  table.add("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", where);
  table.add("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", maskedFill);
  table.add("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", maskedFill);
  table.add("aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp);
  table.add("aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", clamp);
  table.add("aten::clamp_min(Tensor self, Scalar min) -> Tensor", clamp);
  table.add("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", clamp);
  table.add("aten::clamp_max(Tensor self, Scalar max) -> Tensor", clamp);
  table.add("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", clamp);
}

} // namespace torchere::lowering
