// Implements the elementwise ops on single elements: integers modulo 2^width, floats as IEEE 754 has them.
#include "evaluation/scalar_functions.h"

#include "stablehlo/dialect.h"

#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace torchere::stablehlo;
using llvm::APFloat;
using llvm::APInt;

namespace torchere::evaluation {

namespace {

using Kind = ElementFormat::Kind;
using Bits = std::optional<APInt>;

constexpr auto nearest = APFloat::rmNearestTiesToEven;

/// Not inlined: gcc 12 takes the temporary's single bit for a pointer that is freed.
[[gnu::noinline]] APInt boolean(bool value) {
  return APInt(1, value);
}

/// The formats that implementations compute in; narrower ones are computed in wider, which may round twice.
bool isComputedExactly(const ElementFormat &format) {
  return !format.isFloat() || format.semantics == &APFloat::IEEEhalf() ||
         format.semantics == &APFloat::BFloat() || format.semantics == &APFloat::IEEEsingle() ||
         format.semantics == &APFloat::IEEEdouble();
}

APFloat readFloat(const ElementFormat &format, const APInt &bits) {
  return APFloat(*format.semantics, bits);
}

ElementFormat formatOf(Value value) {
  return *ElementFormat::of(elementType(value.getType()));
}

//===- two operands -------------------------------------------------------===//

/// Of a function on integers that has a result for every pair of operands.
BinaryFunction total(APInt (*function)(const APInt &, const APInt &)) {
  return [function](const APInt &lhs, const APInt &rhs) -> Bits { return function(lhs, rhs); };
}

/// Of a quotient or remainder: dividing by zero is left to the run time.
BinaryFunction quotient(APInt (*function)(const APInt &, const APInt &)) {
  return [function](const APInt &lhs, const APInt &rhs) -> Bits {
    return rhs.isZero() ? Bits() : Bits(function(lhs, rhs));
  };
}

/// base^exponent modulo 2^width; a negative exponent is left to the run time.
Bits integerPower(APInt base, APInt exponent, bool isUnsigned) {
  if (!isUnsigned && exponent.isNegative())
    return std::nullopt;
  APInt power(base.getBitWidth(), 1, /*isSigned=*/false, /*implicitTrunc=*/true);
  for (; !exponent.isZero(); exponent = exponent.lshr(1), base *= base)
    if (exponent[0])
      power *= base;
  return power;
}

/// On booleans, addition and maximum are `or`, multiplication and minimum are `and`.
BinaryFunction booleanFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, BinaryFunction>(op)
      .Case<AddOp, MaxOp, OrOp>([](auto) { return total([](auto &lhs, auto &rhs) { return lhs | rhs; }); })
      .Case<MulOp, MinOp, AndOp>([](auto) { return total([](auto &lhs, auto &rhs) { return lhs & rhs; }); })
      .Case([](XorOp) { return total([](auto &lhs, auto &rhs) { return lhs ^ rhs; }); })
      .Default([](Operation *) { return BinaryFunction(); });
}

BinaryFunction integerFunction(Operation *op, bool isUnsigned) {
  return llvm::TypeSwitch<Operation *, BinaryFunction>(op)
      .Case([](AddOp) { return total([](auto &lhs, auto &rhs) { return lhs + rhs; }); })
      .Case([](SubtractOp) { return total([](auto &lhs, auto &rhs) { return lhs - rhs; }); })
      .Case([](MulOp) { return total([](auto &lhs, auto &rhs) { return lhs * rhs; }); })
      .Case([=](DivOp) {
        return isUnsigned ? quotient([](auto &lhs, auto &rhs) { return lhs.udiv(rhs); })
                          : quotient([](auto &lhs, auto &rhs) { return lhs.sdiv(rhs); });
      })
      .Case([=](RemOp) {
        return isUnsigned ? quotient([](auto &lhs, auto &rhs) { return lhs.urem(rhs); })
                          : quotient([](auto &lhs, auto &rhs) { return lhs.srem(rhs); });
      })
      .Case([=](MaxOp) {
        return isUnsigned ? total([](auto &lhs, auto &rhs) { return lhs.ugt(rhs) ? lhs : rhs; })
                          : total([](auto &lhs, auto &rhs) { return lhs.sgt(rhs) ? lhs : rhs; });
      })
      .Case([=](MinOp) {
        return isUnsigned ? total([](auto &lhs, auto &rhs) { return lhs.ult(rhs) ? lhs : rhs; })
                          : total([](auto &lhs, auto &rhs) { return lhs.slt(rhs) ? lhs : rhs; });
      })
      .Case([=](PowOp) {
        return BinaryFunction(
            [=](const APInt &lhs, const APInt &rhs) { return integerPower(lhs, rhs, isUnsigned); });
      })
      .Case([](AndOp) { return total([](auto &lhs, auto &rhs) { return lhs & rhs; }); })
      .Case([](OrOp) { return total([](auto &lhs, auto &rhs) { return lhs | rhs; }); })
      .Case([](XorOp) { return total([](auto &lhs, auto &rhs) { return lhs ^ rhs; }); })
      .Case([](ShiftLeftOp) { return total([](auto &lhs, auto &rhs) { return lhs.shl(rhs); }); })
      .Case([](ShiftRightArithmeticOp) { return total([](auto &lhs, auto &rhs) { return lhs.ashr(rhs); }); })
      .Case([](ShiftRightLogicalOp) { return total([](auto &lhs, auto &rhs) { return lhs.lshr(rhs); }); })
      .Default([](Operation *) { return BinaryFunction(); });
}

BinaryFunction floatFunction(Operation *op, const ElementFormat &format) {
  auto on = [&](APFloat (*function)(const APFloat &, const APFloat &)) -> BinaryFunction {
    return [format, function](const APInt &lhs, const APInt &rhs) -> Bits {
      return function(readFloat(format, lhs), readFloat(format, rhs)).bitcastToAPInt();
    };
  };
  using Float = const APFloat &;
  return llvm::TypeSwitch<Operation *, BinaryFunction>(op)
      .Case([&](AddOp) { return on([](Float lhs, Float rhs) { return lhs + rhs; }); })
      .Case([&](SubtractOp) { return on([](Float lhs, Float rhs) { return lhs - rhs; }); })
      .Case([&](MulOp) { return on([](Float lhs, Float rhs) { return lhs * rhs; }); })
      .Case([&](DivOp) { return on([](Float lhs, Float rhs) { return lhs / rhs; }); })
      .Case([&](MaxOp) { return on([](Float lhs, Float rhs) { return llvm::maximum(lhs, rhs); }); })
      .Case([&](MinOp) { return on([](Float lhs, Float rhs) { return llvm::minimum(lhs, rhs); }); })
      .Case([&](RemOp) {
        return on([](Float lhs, Float rhs) {
          APFloat remainder = lhs;
          remainder.mod(rhs);
          return remainder;
        });
      })
      .Default([](Operation *) { return BinaryFunction(); });
}

/// The order of all floats: -NaN, -infinity, ..., -0, 0, ..., infinity, NaN.
bool isTotallyLess(const APInt &lhs, const APInt &rhs) {
  auto key = [](const APInt &bits) {
    return bits.isNegative() ? ~bits : bits ^ APInt::getSignMask(bits.getBitWidth());
  };
  return key(lhs).ult(key(rhs));
}

BinaryFunction comparison(CompareOp op, const ElementFormat &format) {
  bool isTotal = format.isFloat() && op.getCompareType() == ComparisonType::TOTALORDER;
  auto less = [=](const APInt &lhs, const APInt &rhs) {
    return isTotal ? isTotallyLess(lhs, rhs) : isLess(format, lhs, rhs);
  };
  auto equal = [=](const APInt &lhs, const APInt &rhs) {
    if (!format.isFloat() || isTotal)
      return lhs == rhs;
    return readFloat(format, lhs).compare(readFloat(format, rhs)) == APFloat::cmpEqual;
  };
  return [=, direction = op.getComparisonDirection()](const APInt &lhs, const APInt &rhs) -> Bits {
    switch (direction) {
    case ComparisonDirection::EQ:
      return boolean(equal(lhs, rhs));
    case ComparisonDirection::NE:
      return boolean(!equal(lhs, rhs));
    case ComparisonDirection::LT:
      return boolean(less(lhs, rhs));
    case ComparisonDirection::LE:
      return boolean(less(lhs, rhs) || equal(lhs, rhs));
    case ComparisonDirection::GT:
      return boolean(less(rhs, lhs));
    case ComparisonDirection::GE:
      return boolean(less(rhs, lhs) || equal(lhs, rhs));
    }
    return std::nullopt;
  };
}

//===- one operand --------------------------------------------------------===//

UnaryFunction onIntegers(APInt (*function)(const APInt &)) {
  return [function](const APInt &value) -> Bits { return function(value); };
}

UnaryFunction integerUnaryFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, UnaryFunction>(op)
      .Case([](AbsOp) { return onIntegers([](const APInt &value) { return value.abs(); }); })
      .Case([](NegOp) { return onIntegers([](const APInt &value) { return -value; }); })
      .Case([](NotOp) { return onIntegers([](const APInt &value) { return ~value; }); })
      .Case([](ClzOp) {
        return onIntegers([](const APInt &value) {
          return APInt(value.getBitWidth(), value.countl_zero(), /*isSigned=*/false, /*implicitTrunc=*/true);
        });
      })
      .Case([](PopulationCountOp) {
        return onIntegers([](const APInt &value) {
          return APInt(value.getBitWidth(), value.popcount(), /*isSigned=*/false, /*implicitTrunc=*/true);
        });
      })
      .Case([](SignOp) {
        return onIntegers([](const APInt &value) {
          return APInt(value.getBitWidth(), value.isNegative() ? -1 : !value.isZero(), /*isSigned=*/true);
        });
      })
      .Default([](Operation *) { return UnaryFunction(); });
}

APFloat signOf(const APFloat &value) {
  return value.isNaN() || value.isZero() ? value : APFloat::getOne(value.getSemantics(), value.isNegative());
}

UnaryFunction floatUnaryFunction(Operation *op, const ElementFormat &format) {
  auto on = [&](APFloat (*function)(const APFloat &)) -> UnaryFunction {
    return [format, function](const APInt &value) -> Bits {
      return function(readFloat(format, value)).bitcastToAPInt();
    };
  };
  auto rounded = [&](APFloat::roundingMode mode) -> UnaryFunction {
    return [format, mode](const APInt &value) -> Bits {
      APFloat number = readFloat(format, value);
      number.roundToIntegral(mode);
      return number.bitcastToAPInt();
    };
  };
  return llvm::TypeSwitch<Operation *, UnaryFunction>(op)
      .Case([&](AbsOp) { return on([](const APFloat &value) { return llvm::abs(value); }); })
      .Case([&](NegOp) { return on([](const APFloat &value) { return llvm::neg(value); }); })
      .Case([&](SignOp) { return on(signOf); })
      .Case([&](CeilOp) { return rounded(APFloat::rmTowardPositive); })
      .Case([&](FloorOp) { return rounded(APFloat::rmTowardNegative); })
      .Case([&](RoundOp) { return rounded(APFloat::rmNearestTiesToAway); })
      .Case([&](RoundNearestEvenOp) { return rounded(nearest); })
      .Case([&](IsFiniteOp) -> UnaryFunction {
        return [format](const APInt &value) -> Bits { return boolean(readFloat(format, value).isFinite()); };
      })
      .Default([](Operation *) { return UnaryFunction(); });
}

Bits convertInteger(const ElementFormat &from, const ElementFormat &to, const APInt &value) {
  bool isSigned = from.kind == Kind::Signed;
  if (to.isFloat()) {
    APFloat number(*to.semantics);
    number.convertFromAPInt(value, isSigned, nearest);
    return number.bitcastToAPInt();
  }
  return isSigned ? value.sextOrTrunc(to.width) : value.zextOrTrunc(to.width);
}

Bits convertFloat(const ElementFormat &from, const ElementFormat &to, const APInt &value) {
  APFloat number = readFloat(from, value);
  if (to.isFloat()) {
    bool losesInformation = false;
    number.convert(*to.semantics, nearest, &losesInformation);
    return number.bitcastToAPInt();
  }
  bool isExact = false;
  llvm::APSInt integer(to.width, /*isUnsigned=*/to.kind == Kind::Unsigned);
  if (number.convertToInteger(integer, APFloat::rmTowardZero, &isExact) & APFloat::opInvalidOp)
    return std::nullopt; // out of range: for the implementation to say
  return integer;
}

UnaryFunction conversion(const ElementFormat &from, const ElementFormat &to) {
  if (to.kind == Kind::Boolean) // whether the number is not zero; NaN is not
    return [from](const APInt &value) -> Bits {
      return boolean(from.isFloat() ? !readFloat(from, value).isZero() : !value.isZero());
    };
  return [from, to](const APInt &value) {
    return from.isFloat() ? convertFloat(from, to, value) : convertInteger(from, to, value);
  };
}

} // namespace

std::optional<ElementFormat> ElementFormat::of(Type element) {
  if (auto type = dyn_cast<FloatType>(element))
    return ElementFormat{Kind::Float, type.getWidth(), &type.getFloatSemantics()};
  if (element.isIndex())
    return ElementFormat{Kind::Signed, IndexType::kInternalStorageBitWidth};
  auto type = dyn_cast<IntegerType>(element);
  if (!type)
    return std::nullopt;
  if (isBoolean(type))
    return ElementFormat{Kind::Boolean, 1};
  return ElementFormat{type.isUnsigned() ? Kind::Unsigned : Kind::Signed, type.getWidth()};
}

bool isLess(const ElementFormat &format, const APInt &lhs, const APInt &rhs) {
  if (format.isFloat())
    return readFloat(format, lhs).compare(readFloat(format, rhs)) == APFloat::cmpLessThan;
  return format.kind == Kind::Signed ? lhs.slt(rhs) : lhs.ult(rhs);
}

BinaryFunction binaryFunction(Operation *op) {
  ElementFormat format = formatOf(op->getOperand(0));
  if (auto compare = dyn_cast<CompareOp>(op))
    return comparison(compare, format);
  if (format.isFloat())
    return isComputedExactly(format) ? floatFunction(op, format) : BinaryFunction();
  if (format.kind == Kind::Boolean)
    return booleanFunction(op);
  return integerFunction(op, format.kind == Kind::Unsigned);
}

UnaryFunction unaryFunction(Operation *op) {
  ElementFormat from = formatOf(op->getOperand(0)), to = formatOf(op->getResult(0));
  if (!isComputedExactly(from) || !isComputedExactly(to))
    return {};
  if (isa<ConvertOp>(op))
    return conversion(from, to);
  return from.isFloat() ? floatUnaryFunction(op, from) : integerUnaryFunction(op);
}

} // namespace torchere::evaluation
