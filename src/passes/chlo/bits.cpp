// The expansions that work on the bits of numbers: mulhi and next_after.
#include "passes/chlo/expansions.h"
#include "passes/chlo/formula.h"

using namespace mlir;

namespace torchere::passes {

namespace {

using stablehlo::elementType;

/// The upper half of 64-bit products, from the products of their halves; sign bits count as ordinary bits.
Elements upperHalf(const Elements &a, const Elements &b) {
  auto word = [](const Elements &x) { return x.constant(APInt(64, 32)); };
  auto low = [](const Elements &x) { return both(x, x.constant(APInt::getLowBitsSet(64, 32))); };
  auto high = [&](const Elements &x) { return x.apply<stablehlo::ShiftRightLogicalOp>(word(x)); };
  Elements middle = high(a) * low(b) + high(low(a) * low(b));
  Elements other = low(a) * high(b) + low(middle);
  return high(a) * high(b) + high(middle) + high(other);
}

FailureOr<Values> expandMulhi(chlo::MulhiOp op, OpBuilder &builder) {
  FormulaBuilder formula(builder, op.getLoc(), op.getLhs());
  auto element = cast<IntegerType>(elementType(op.getLhs().getType()));
  Elements lhs(formula, op.getLhs()), rhs(formula, op.getRhs());
  if (element.getWidth() == 64) {
    Elements product = upperHalf(lhs, rhs);
    if (element.isUnsigned())
      return Values{product};
    // The bits of a negative number are those of the number plus 2^64.
    Elements zero = lhs.constant(APInt(64, 0));
    Elements ofLhs = (lhs < zero).select(rhs, zero), ofRhs = (rhs < zero).select(lhs, zero);
    return Values{product - ofLhs - ofRhs};
  }
  unsigned width = element.getWidth();
  auto wide = IntegerType::get(builder.getContext(), width <= 16 ? 32 : 64, element.getSignedness());
  Elements product = lhs.with(formula.convert(lhs, wide)) * lhs.with(formula.convert(rhs, wide));
  Elements count = product.constant(APInt(wide.getWidth(), width));
  Elements upper = element.isUnsigned() ? product.apply<stablehlo::ShiftRightLogicalOp>(count)
                                        : product.apply<stablehlo::ShiftRightArithmeticOp>(count);
  return Values{formula.convert(upper, element)};
}

/// The bits of a type's numbers; apart from the sign bit, they have the order of the numbers.
struct NumberBits {
  explicit NumberBits(const llvm::fltSemantics &semantics) {
    bool hasInfinity = APFloat::semanticsHasInf(semantics);
    greatest = (hasInfinity ? APFloat::getInf(semantics) : APFloat::getLargest(semantics)).bitcastToAPInt();
    if (APFloat::semanticsHasNaN(semantics))
      nan = APFloat::getQNaN(semantics).bitcastToAPInt();
    hasNegativeZero = !nan || !nan->isSignMask();
  }

  APInt greatest; ///< infinity, where there is one
  std::optional<APInt> nan;
  bool hasNegativeZero; ///< otherwise that encoding is NaN
};

/// Computes on integers alone, because floating-point arithmetic may treat subnormal numbers as zeros.
Elements nextAfter(const Elements &x, const Elements &y, unsigned width, const NumberBits &numbers) {
  Elements zero = x.constant(APInt(width, 0)), one = x.constant(APInt(width, 1));
  Elements sign = x.constant(APInt::getSignMask(width));
  Elements magnitudes = x.constant(APInt::getSignedMaxValue(width));
  Elements xMagnitude = both(x, magnitudes), yMagnitude = both(y, magnitudes);
  // Integers in the order of the numbers; both zeros are 0.
  Elements xOrder = (x < zero).select(-xMagnitude, xMagnitude);
  Elements yOrder = (y < zero).select(-yMagnitude, yMagnitude);
  Elements isInward = notEqual(xOrder < zero, yOrder < xOrder); // towards zero
  Elements next = isInward.select(x - one, x + one);
  if (!numbers.hasNegativeZero)
    next = equal(next, sign).select(zero, next);
  Elements away = equal(xMagnitude, zero).select(either(both(y, sign), one), next);
  Elements result = equal(xOrder, yOrder).select(y, away);
  if (!numbers.nan)
    return result;
  Elements greatest = x.constant(numbers.greatest), nan = x.constant(*numbers.nan);
  Elements isNan = numbers.hasNegativeZero ? either(xMagnitude > greatest, yMagnitude > greatest)
                                           : either(equal(x, nan), equal(y, nan));
  return isNan.select(nan, result);
}

/// For types without a sign and without zero.
Elements nextAfter(const Elements &x, const Elements &y, const APInt &notANumber) {
  Elements one = x.constant(APInt(notANumber.getBitWidth(), 1)), nan = x.constant(notANumber);
  Elements next = (x < y).select(x + one, x - one);
  Elements isNan = either(equal(x, nan), equal(y, nan));
  return isNan.select(nan, equal(x, y).select(y, next));
}

FailureOr<Values> expandNextAfter(chlo::NextAfterOp op, OpBuilder &builder) {
  auto element = cast<FloatType>(elementType(op.getX().getType()));
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  if (!llvm::isPowerOf2_32(element.getWidth())) // there is no integer type of the same width
    return op.emitOpError() << "of elements of type " << element << " has no expansion to StableHLO";
  FormulaBuilder formula(builder, op.getLoc(), op.getX());
  bool hasSign = APFloat::semanticsHasSignedRepr(semantics);
  auto integer = IntegerType::get(builder.getContext(), element.getWidth(),
                                  hasSign ? IntegerType::Signless : IntegerType::Unsigned);
  auto bitsOf = [&](Value value) {
    return Elements(formula, formula.retyped<stablehlo::BitcastConvertOp>(value, integer));
  };
  Elements x = bitsOf(op.getX()), y = bitsOf(op.getY());
  NumberBits numbers(semantics);
  Value result = hasSign ? nextAfter(x, y, element.getWidth(), numbers) : nextAfter(x, y, *numbers.nan);
  return Values{formula.retyped<stablehlo::BitcastConvertOp>(result, element)};
}

} // namespace

void addBitExpansions(Expansions &table) {
  addExpansion<chlo::MulhiOp>(table, expandMulhi);
  addExpansion<chlo::NextAfterOp>(table, expandNextAfter);
}

} // namespace torchere::passes
