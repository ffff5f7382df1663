// Element: one number of a tensor, whatever its type, and the arithmetic of the specification on it.
//
// Floats are computed with as doubles and rounded to their type once. For the basic operations on types of up
// to 32 bits that equals computing in the type itself: a double has more than twice their digits.
//
// What the specification leaves to the implementation is decided here: see divide, remainder, power and
// convert. isQuotientDefined and its like tell these cases apart, for callers that leave them alone.
#pragma once

#include "base/element_type.h"

#include <complex>
#include <string>

namespace torchere::evaluation {

class Element {
public:
  Element() = default;
  /// A bool or an integer: the value modulo two to the number of bits. A bool is whether it is not zero.
  static Element integer(ElementType type, uint64_t value);
  /// A float, or a complex number with this real part: the nearest number of the type.
  static Element number(ElementType type, double value);
  static Element complex(ElementType type, std::complex<double> value);
  /// The float that a computation on one or two floats gives. NaN, about which processors differ, is that of
  /// the first operand that is NaN, made quiet, or else the positive one.
  static Element result(ElementType type, double value, double lhs, double rhs = 0);
  /// The element whose encoding `source` holds, in as many bytes as the type takes.
  static Element load(ElementType type, const std::byte *source);
  void store(std::byte *target) const;

  ElementType type() const { return elementType; }
  /// Of a bool or an integer, whose sign is extended.
  int64_t asSigned() const { return static_cast<int64_t>(bits); }
  uint64_t asUnsigned() const { return bits; }
  bool asBool() const { return bits != 0; }
  /// Of a float, or the real part.
  double asDouble() const { return value.real(); }
  std::complex<double> asComplex() const { return value; }

  /// "-3", "true", "0.1", "(1.5,-2.0)", "nan".
  std::string text() const;

private:
  ElementType elementType = ElementType::Bool;
  uint64_t bits = 0;
  std::complex<double> value = 0;
};

/// The same encoding; all NaNs are one.
bool isSame(const Element &lhs, const Element &rhs);
/// Whether lhs comes before rhs in the order of IEEE 754's totalOrder: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
bool isTotallyLess(double lhs, double rhs);

/// How an element becomes one of another type. A float becomes the integer towards zero, limited to the
/// type's range, and NaN becomes 0; complex numbers lose their imaginary part; a bool is whether the number
/// is not 0.
Element convert(const Element &element, ElementType type);
/// Whether the specification says what convert gives: not for a float that is NaN or outside the range of the
/// integer type.
bool isConversionDefined(const Element &element, ElementType type);
/// The number rounded to a format of so many bits, in its own type.
Element reducePrecision(const Element &element, int exponentBits, int mantissaBits);

Element add(const Element &lhs, const Element &rhs);
Element subtract(const Element &lhs, const Element &rhs);
Element multiply(const Element &lhs, const Element &rhs);
/// Integers: towards zero; x / 0 has all bits set.
Element divide(const Element &lhs, const Element &rhs);
/// The sign is that of lhs; x % 0 is x for integers.
Element remainder(const Element &lhs, const Element &rhs);
/// Integers: lhs^rhs modulo two to the number of bits; for a negative rhs the quotient 1 / lhs^-rhs.
Element power(const Element &lhs, const Element &rhs);
/// Whether the specification says what divide and remainder give: not for an integer by zero.
bool isQuotientDefined(const Element &lhs, const Element &rhs);
/// The same of power: not for a negative exponent of integers.
bool isPowerDefined(const Element &lhs, const Element &rhs);
Element atan2(const Element &lhs, const Element &rhs);
/// The complex number of these parts.
Element complexOf(const Element &real, const Element &imaginary);
/// NaN if either is; complex numbers are compared by their real, then their imaginary parts.
Element maximum(const Element &lhs, const Element &rhs);
Element minimum(const Element &lhs, const Element &rhs);
Element bitAnd(const Element &lhs, const Element &rhs);
Element bitOr(const Element &lhs, const Element &rhs);
Element bitXor(const Element &lhs, const Element &rhs);
/// By as many bits as the type has, or more (or a negative number): 0, or the sign for the arithmetic one.
Element shiftLeft(const Element &lhs, const Element &rhs);
Element shiftRightArithmetic(const Element &lhs, const Element &rhs);
Element shiftRightLogical(const Element &lhs, const Element &rhs);

/// A float for complex numbers.
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
