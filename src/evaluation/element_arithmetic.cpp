// Arithmetic on two elements of one type.
#include "evaluation/element.h"

#include <cmath>
#include <limits>

namespace torchere::evaluation {

namespace {

using Complex = std::complex<double>;

Element floatResult(const Element &lhs, const Element &rhs, double value) {
  return Element::result(lhs.type(), value, lhs.asDouble(), rhs.asDouble());
}

/// Integers are computed by `integers`, whose result is taken modulo 2^bits.
template <class Integers, class Floats, class Complexes>
Element apply(const Element &lhs, const Element &rhs, Integers integers, Floats floats, Complexes complexes) {
  ElementType type = lhs.type();
  if (isFloat(type))
    return floatResult(lhs, rhs, floats(lhs.asDouble(), rhs.asDouble()));
  if (isComplex(type))
    return Element::complex(type, complexes(lhs.asComplex(), rhs.asComplex()));
  return Element::integer(type, integers(lhs.asUnsigned(), rhs.asUnsigned()));
}

/// Without C's recovery of infinities: the specification's plain formula.
Complex complexProduct(Complex lhs, Complex rhs) {
  return {lhs.real() * rhs.real() - lhs.imag() * rhs.imag(),
          lhs.real() * rhs.imag() + lhs.imag() * rhs.real()};
}

bool isLess(Complex lhs, Complex rhs) {
  return lhs.real() != rhs.real() ? lhs.real() < rhs.real() : lhs.imag() < rhs.imag();
}

bool hasNan(Complex value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}

/// For x / 0, and for the smallest integer by -1, which overflows.
uint64_t integerQuotient(const Element &lhs, const Element &rhs) {
  if (rhs.asUnsigned() == 0)
    return ~uint64_t(0);
  if (isUnsigned(lhs.type()))
    return lhs.asUnsigned() / rhs.asUnsigned();
  return rhs.asSigned() == -1 ? -lhs.asUnsigned() : static_cast<uint64_t>(lhs.asSigned() / rhs.asSigned());
}

/// By repeated squaring. A negative exponent gives the quotient 1 / lhs^-rhs, which is 0 unless lhs is 1 or
/// -1.
uint64_t integerPower(const Element &lhs, const Element &rhs) {
  if (!isUnsigned(lhs.type()) && rhs.asSigned() < 0) {
    bool isOdd = rhs.asUnsigned() & 1;
    if (lhs.asSigned() == 1 || lhs.asSigned() == -1)
      return isOdd ? lhs.asUnsigned() : 1;
    return 0;
  }
  uint64_t result = 1, base = lhs.asUnsigned();
  for (uint64_t exponent = rhs.asUnsigned(); exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

uint64_t bitsOf(const Element &element) {
  int bits = elementTypeInfo(element.type()).bits;
  return bits == 64 ? element.asUnsigned() : element.asUnsigned() & ((uint64_t(1) << bits) - 1);
}

bool shiftsOut(const Element &lhs, const Element &rhs) {
  return bitsOf(rhs) >= static_cast<uint64_t>(elementTypeInfo(lhs.type()).bits);
}

/// rhs if low is less than high, which are lhs and rhs or the converse; else lhs.
Element extreme(const Element &lhs, const Element &rhs, const Element &low, const Element &high) {
  if (isComplex(lhs.type())) {
    if (hasNan(lhs.asComplex()))
      return lhs;
    return hasNan(rhs.asComplex()) || isLess(low.asComplex(), high.asComplex()) ? rhs : lhs;
  }
  if (isFloat(lhs.type())) {
    if (std::isnan(lhs.asDouble()) || std::isnan(rhs.asDouble()))
      return floatResult(lhs, rhs, lhs.asDouble() + rhs.asDouble());
    return isTotallyLess(low.asDouble(), high.asDouble()) ? rhs : lhs;
  }
  bool isRhs = elementTypeInfo(lhs.type()).kind == ElementKind::Signed ? low.asSigned() < high.asSigned()
                                                                       : low.asUnsigned() < high.asUnsigned();
  return isRhs ? rhs : lhs;
}

} // namespace

Element add(const Element &lhs, const Element &rhs) {
  if (isBool(lhs.type()))
    return bitOr(lhs, rhs);
  auto sum = [](auto left, auto right) { return left + right; };
  return apply(lhs, rhs, sum, sum, sum);
}

Element subtract(const Element &lhs, const Element &rhs) {
  auto difference = [](auto left, auto right) { return left - right; };
  return apply(lhs, rhs, difference, difference, difference);
}

Element multiply(const Element &lhs, const Element &rhs) {
  auto product = [](auto left, auto right) { return left * right; };
  return apply(lhs, rhs, product, product, complexProduct);
}

Element divide(const Element &lhs, const Element &rhs) {
  if (isInteger(lhs.type()))
    return Element::integer(lhs.type(), integerQuotient(lhs, rhs));
  auto quotient = [](auto left, auto right) { return left / right; };
  return apply(lhs, rhs, quotient, quotient, quotient);
}

Element remainder(const Element &lhs, const Element &rhs) {
  if (isInteger(lhs.type()))
    return rhs.asUnsigned() == 0 ? lhs
                                 : Element::integer(lhs.type(), lhs.asUnsigned() - integerQuotient(lhs, rhs) *
                                                                                       rhs.asUnsigned());
  return floatResult(lhs, rhs, std::fmod(lhs.asDouble(), rhs.asDouble()));
}

bool isQuotientDefined(const Element &lhs, const Element &rhs) {
  return !isInteger(lhs.type()) || rhs.asUnsigned() != 0;
}

Element power(const Element &lhs, const Element &rhs) {
  if (isInteger(lhs.type()))
    return Element::integer(lhs.type(), integerPower(lhs, rhs));
  if (isFloat(lhs.type()))
    return floatResult(lhs, rhs, std::pow(lhs.asDouble(), rhs.asDouble()));
  Complex base = lhs.asComplex(), exponent = rhs.asComplex();
  if (base == 0.0)
    return Element::complex(lhs.type(), exponent == 0.0 ? 1.0 : 0.0);
  return Element::complex(lhs.type(), std::pow(base, exponent));
}

bool isPowerDefined(const Element &lhs, const Element &rhs) {
  return !isInteger(lhs.type()) || isUnsigned(lhs.type()) || rhs.asSigned() >= 0;
}

Element complexOf(const Element &real, const Element &imaginary) {
  return Element::complex(complexType(real.type()), {real.asDouble(), imaginary.asDouble()});
}

Element atan2(const Element &lhs, const Element &rhs) {
  if (isFloat(lhs.type()))
    return floatResult(lhs, rhs, std::atan2(lhs.asDouble(), rhs.asDouble()));
  Complex i(0, 1), y = lhs.asComplex(), x = rhs.asComplex();
  return Element::complex(lhs.type(), -i * std::log((x + i * y) / std::sqrt(x * x + y * y)));
}

Element maximum(const Element &lhs, const Element &rhs) {
  return extreme(lhs, rhs, lhs, rhs);
}

Element minimum(const Element &lhs, const Element &rhs) {
  return extreme(lhs, rhs, rhs, lhs);
}

Element bitAnd(const Element &lhs, const Element &rhs) {
  return Element::integer(lhs.type(), lhs.asUnsigned() & rhs.asUnsigned());
}

Element bitOr(const Element &lhs, const Element &rhs) {
  return Element::integer(lhs.type(), lhs.asUnsigned() | rhs.asUnsigned());
}

Element bitXor(const Element &lhs, const Element &rhs) {
  return Element::integer(lhs.type(), lhs.asUnsigned() ^ rhs.asUnsigned());
}

Element shiftLeft(const Element &lhs, const Element &rhs) {
  return Element::integer(lhs.type(), shiftsOut(lhs, rhs) ? 0 : lhs.asUnsigned() << rhs.asUnsigned());
}

Element shiftRightArithmetic(const Element &lhs, const Element &rhs) {
  int bits = elementTypeInfo(lhs.type()).bits, unused = 64 - bits;
  int64_t value = static_cast<int64_t>(lhs.asUnsigned() << unused) >> unused; // also for unsigned types
  int64_t shift = shiftsOut(lhs, rhs) ? bits - 1 : rhs.asSigned();
  return Element::integer(lhs.type(), static_cast<uint64_t>(value >> shift));
}

Element shiftRightLogical(const Element &lhs, const Element &rhs) {
  return Element::integer(lhs.type(), shiftsOut(lhs, rhs) ? 0 : bitsOf(lhs) >> rhs.asUnsigned());
}

} // namespace torchere::evaluation
