// Expands reduce_precision: arithmetic on the bits of floats.
#include "cpu/frontend/expansion/expansion.h"
#include "passes/chlo/formula.h"
#include "stablehlo/dialect.h"
#include "stablehlo/element_type_conversion.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

using passes::Elements;
using passes::FormulaBuilder;

/// As evaluation::reducePrecision() has it, of types with an infinity.
class PrecisionReduction {
public:
  PrecisionReduction(stablehlo::ReducePrecisionOp op, const FloatFormat &own)
      : op(op), own(own), width(1 + own.exponentBits + own.mantissaBits), builder(op),
        formula(builder, op.getLoc(), op.getOperand()) {
    auto bits = [&](StringRef field, int most) {
      return static_cast<int>(std::min<int64_t>(cast<IntegerAttr>(op->getAttr(field)).getInt(), most));
    };
    exponentBits = bits("exponent_bits", own.exponentBits);
    mantissaBits = bits("mantissa_bits", own.mantissaBits);
  }

  void replace() {
    Elements value(formula, op.getOperand());
    bool isNarrow = exponentBits < own.exponentBits;
    if (isNarrow || mantissaBits < own.mantissaBits) {
      Elements bits = value.with(formula.retyped<stablehlo::BitcastConvertOp>(
          Value(value), builder.getIntegerType(static_cast<unsigned>(width), /*isSigned=*/false)));
      if (mantissaBits < own.mantissaBits)
        bits = rounded(bits);
      if (isNarrow)
        bits = inRange(bits);
      Elements reduced = value.with(formula.retyped<stablehlo::BitcastConvertOp>(
          Value(bits), cast<RankedTensorType>(op.getOperand().getType()).getElementType()));
      value = equal(value, value).select(reduced, value);
    }
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

private:
  APInt ones(int from, int to) const {
    return APInt::getBitsSet(static_cast<unsigned>(width), static_cast<unsigned>(from),
                             static_cast<unsigned>(to));
  }
  APInt number(int64_t value) const {
    return APInt(static_cast<unsigned>(width), static_cast<uint64_t>(value));
  }

  /// To nearest; ties to an even last bit, of the exponent if no other stays.
  Elements rounded(const Elements &bits) {
    int dropped = own.mantissaBits - mantissaBits;
    Elements last = bits.apply<stablehlo::ShiftRightLogicalOp>(bits.constant(number(dropped)));
    last = last.apply<stablehlo::AndOp>(bits.constant(number(1)));
    Elements sum = bits + last + bits.constant(ones(0, dropped - 1));
    return sum.apply<stablehlo::AndOp>(bits.constant(ones(dropped, width)));
  }

  /// Infinity above the largest exponent, zero below the least: there are no denormals.
  Elements inRange(const Elements &bits) {
    int64_t bias = (int64_t(1) << (exponentBits - 1)) - 1;
    APInt largest = number(own.bias + bias).shl(static_cast<unsigned>(own.mantissaBits));
    APInt least = number(own.bias - bias + 1).shl(static_cast<unsigned>(own.mantissaBits));
    Elements sign = bits.apply<stablehlo::AndOp>(bits.constant(ones(width - 1, width)));
    Elements infinity = sign.apply<stablehlo::OrOp>(bits.constant(ones(own.mantissaBits, width - 1)));
    Elements exponent = bits.apply<stablehlo::AndOp>(bits.constant(ones(own.mantissaBits, width - 1)));
    Elements result = (exponent > bits.constant(largest)).select(infinity, bits);
    return (exponent < bits.constant(least)).select(sign, result);
  }

  stablehlo::ReducePrecisionOp op;
  const FloatFormat &own;
  int width;
  OpBuilder builder;
  FormulaBuilder formula;
  int exponentBits, mantissaBits;
};

} // namespace

void expandReducedPrecision(func::FuncOp function) {
  SmallVector<stablehlo::ReducePrecisionOp> found;
  function.walk([&](stablehlo::ReducePrecisionOp op) { found.push_back(op); });
  for (stablehlo::ReducePrecisionOp op : found) {
    auto type = dyn_cast<RankedTensorType>(op.getOperand().getType());
    std::optional<ElementType> element;
    if (type && type.hasStaticShape() && op->getResult(0).getType() == type)
      element = stablehlo::storedTypeOf(type.getElementType());
    bool isWide = element && isFloat(*element) && elementTypeInfo(*element).bits >= 16;
    if (isWide)
      PrecisionReduction(op, *elementTypeInfo(*element).format).replace();
  }
}

} // namespace torchere::cpu
