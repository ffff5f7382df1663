// Element: one number of a tensor, of any type, and the specification's arithmetic on it.
//
// Floats are computed as doubles and rounded to their type once. For the basic operations on types of up to
// 32 bits that equals computing in the type itself: a double has more than twice their digits.
//
// Implementation-defined cases are decided here: see divide, remainder, power and convert. isQuotientDefined
// and its siblings recognize these cases, for callers that leave them alone.
#pragma once

#include "base/element_type.h"

#include <complex>
#include <string>

namespace torchere::evaluation {

class Element {
public:
  Element() = default;
  /// A bool or an integer: the value modulo 2^bits. A bool is whether the value is not zero.
  static Element integer(ElementType type, uint64_t value);
  /// A float, or a complex number with this real part: rounded to the nearest number of the type.
  static Element number(ElementType type, double value);
  static Element complex(ElementType type, std::complex<double> value);
  /// The float that a computation on one or two floats returns. Processors differ in the NaNs they return;
  /// here a NaN result is the first operand that is NaN, made quiet, or else the positive NaN.
  static Element result(ElementType type, double value, double lhs, double rhs = 0);
  /// Decodes the element at `source`, which takes as many bytes as its type.
  static Element load(ElementType type, const std::byte *source);
  void store(std::byte *target) const;

  ElementType type() const { return elementType; }
  /// For a bool or an integer, sign-extended.
  int64_t asSigned() const { return static_cast<int64_t>(bits); }
  uint64_t asUnsigned() const { return bits; }
  bool asBool() const { return bits != 0; }
  /// For a float, or the real part of a complex number.
  double asDouble() const { return value.real(); }
  std::complex<double> asComplex() const { return value; }

  /// "-3", "true", "0.1", "(1.5,-2.0)", "nan".
  std::string text() const;

private:
  ElementType elementType = ElementType::Bool;
  uint64_t bits = 0;
  std::complex<double> value = 0;
};

/// Whether the encodings are equal; all NaNs count as equal.
bool isSame(const Element &lhs, const Element &rhs);
/// Whether lhs precedes rhs in IEEE 754's totalOrder: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
bool isTotallyLess(double lhs, double rhs);

/// Converts to another type. Floats are rounded towards zero and saturate at the range of an integer type,
/// where NaN becomes 0; complex numbers lose their imaginary part; a bool is whether the number is not 0.
Element convert(const Element &element, ElementType type);
/// Whether the specification defines the result of convert: not if a float is NaN or outside the range of the
/// integer type.
bool isConversionDefined(const Element &element, ElementType type);
/// The number rounded to a format with so many bits, in its own type.
Element reducePrecision(const Element &element, int exponentBits, int mantissaBits);

Element add(const Element &lhs, const Element &rhs);
Element subtract(const Element &lhs, const Element &rhs);
Element multiply(const Element &lhs, const Element &rhs);
/// Integers are rounded towards zero; x / 0 has all bits set.
Element divide(const Element &lhs, const Element &rhs);
/// The sign is that of lhs; x % 0 is x for integers.
Element remainder(const Element &lhs, const Element &rhs);
/// Integers: lhs^rhs modulo 2^bits; for a negative rhs, the quotient 1 / lhs^-rhs.
Element power(const Element &lhs, const Element &rhs);
/// Whether the specification defines the results of divide and remainder: not for an integer divided by zero.
bool isQuotientDefined(const Element &lhs, const Element &rhs);
/// The same for power: not for integers with a negative exponent.
bool isPowerDefined(const Element &lhs, const Element &rhs);
Element atan2(const Element &lhs, const Element &rhs);
/// The complex number with these parts.
Element complexOf(const Element &real, const Element &imaginary);
/// NaN if either is; complex numbers are compared by their real, then their imaginary parts.
Element maximum(const Element &lhs, const Element &rhs);
Element minimum(const Element &lhs, const Element &rhs);
Element bitAnd(const Element &lhs, const Element &rhs);
Element bitOr(const Element &lhs, const Element &rhs);
Element bitXor(const Element &lhs, const Element &rhs);
/// A shift by the type's number of bits or more, or by a negative number, gives 0, or the sign for the
/// arithmetic shift.
Element shiftLeft(const Element &lhs, const Element &rhs);
Element shiftRightArithmetic(const Element &lhs, const Element &rhs);
Element shiftRightLogical(const Element &lhs, const Element &rhs);

/// Returns a float for complex numbers.
Element abs(const Element &operand);
Element cbrt(const Element &operand);
Element ceil(const Element &operand);
Element cosine(const Element &operand);
Element countLeadingZeros(const Element &operand);
Element exponential(const Element &operand);
Element exponentialMinusOne(const Element &operand);
Element floor(const Element &operand);
Element imaginaryPart(const Element &operand);
Element isFinite(const Element &operand);
Element log(const Element &operand);
Element logPlusOne(const Element &operand);
Element logistic(const Element &operand);
Element negate(const Element &operand);
Element bitNot(const Element &operand);
Element populationCount(const Element &operand);
Element realPart(const Element &operand);
Element roundAwayFromZero(const Element &operand);
Element roundToEven(const Element &operand);
Element rsqrt(const Element &operand);
Element sign(const Element &operand);
Element sine(const Element &operand);
Element sqrt(const Element &operand);
Element tan(const Element &operand);
Element tanh(const Element &operand);

} // namespace torchere::evaluation
