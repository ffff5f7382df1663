// Functions of one element.
#include "evaluation/element.h"

#include <bit>
#include <cmath>

namespace torchere::evaluation {

namespace {

using Complex = std::complex<double>;

Element floatResult(const Element &operand, double value) {
  return Element::result(operand.type(), value, operand.asDouble());
}

/// Applies `floats` to a real number and `complexes` to a complex one; the result is rounded to the operand's
/// type.
template <class Floats, class Complexes>
Element apply(const Element &operand, Floats floats, Complexes complexes) {
  return isComplex(operand.type()) ? Element::complex(operand.type(), complexes(operand.asComplex()))
                                   : floatResult(operand, floats(operand.asDouble()));
}

template <class Function> Element apply(const Element &operand, Function function) {
  return apply(operand, function, function);
}

uint64_t leftAlignedBits(const Element &operand) {
  return operand.asUnsigned() << (64 - elementTypeInfo(operand.type()).bits);
}

/// Without cancellation near 0: e^x cos(y) - 1 = (e^x - 1) cos(y) - 2 sin(y / 2)^2.
Complex complexExpm1(Complex z) {
  double halfSine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * halfSine * halfSine,
          std::exp(z.real()) * std::sin(z.imag())};
}

/// Without cancellation near 0: |1 + z|^2 - 1 = x (2 + x) + y^2.
Complex complexLog1p(Complex z) {
  double x = z.real(), y = z.imag();
  if (!(std::fabs(x) < 0.5 && std::fabs(y) < 0.5))
    return std::log(1.0 + z);
  return {std::log1p(x * (2 + x) + y * y) / 2, std::atan2(y, 1 + x)};
}

double realSign(double value) {
  return std::isnan(value) || value == 0 ? value : std::copysign(1.0, value);
}

Complex complexSign(Complex value) {
  return value == 0.0 ? Complex(0) : value / std::abs(value);
}

} // namespace

Element abs(const Element &operand) {
  if (isComplex(operand.type()))
    return Element::number(partType(operand.type()), std::abs(operand.asComplex()));
  if (isFloat(operand.type()))
    return Element::number(operand.type(), std::fabs(operand.asDouble()));
  return operand.asSigned() < 0 ? negate(operand) : operand;
}

Element cbrt(const Element &operand) {
  return apply(
      operand, [](double value) { return std::cbrt(value); },
      [](Complex value) { return value == 0.0 ? Complex(0) : std::pow(value, 1.0 / 3.0); });
}

Element ceil(const Element &operand) {
  return floatResult(operand, std::ceil(operand.asDouble()));
}

Element cosine(const Element &operand) {
  return apply(operand, [](auto value) { return std::cos(value); });
}

Element countLeadingZeros(const Element &operand) {
  int bits = elementTypeInfo(operand.type()).bits;
  return Element::integer(operand.type(), std::min(std::countl_zero(leftAlignedBits(operand)), bits));
}

Element exponential(const Element &operand) {
  return apply(operand, [](auto value) { return std::exp(value); });
}

Element exponentialMinusOne(const Element &operand) {
  return apply(operand, [](double value) { return std::expm1(value); }, complexExpm1);
}

Element floor(const Element &operand) {
  return floatResult(operand, std::floor(operand.asDouble()));
}

Element imaginaryPart(const Element &operand) {
  return Element::number(partType(operand.type()), operand.asComplex().imag());
}

Element isFinite(const Element &operand) {
  return Element::integer(ElementType::Bool, std::isfinite(operand.asDouble()));
}

Element log(const Element &operand) {
  return apply(operand, [](auto value) { return std::log(value); });
}

Element logPlusOne(const Element &operand) {
  return apply(operand, [](double value) { return std::log1p(value); }, complexLog1p);
}

Element logistic(const Element &operand) {
  return apply(operand, [](auto value) { return 1.0 / (1.0 + std::exp(-value)); });
}

Element negate(const Element &operand) {
  if (isInteger(operand.type()))
    return Element::integer(operand.type(), -operand.asUnsigned());
  if (isFloat(operand.type())) // the sign of NaN changes as well
    return Element::number(operand.type(), -operand.asDouble());
  return Element::complex(operand.type(), -operand.asComplex());
}

Element bitNot(const Element &operand) {
  return Element::integer(operand.type(), isBool(operand.type()) ? !operand.asBool() : ~operand.asUnsigned());
}

Element populationCount(const Element &operand) {
  return Element::integer(operand.type(), std::popcount(leftAlignedBits(operand)));
}

Element realPart(const Element &operand) {
  return Element::number(partType(operand.type()), operand.asDouble());
}

Element roundAwayFromZero(const Element &operand) {
  return floatResult(operand, std::round(operand.asDouble()));
}

Element roundToEven(const Element &operand) {
  return floatResult(operand, std::nearbyint(operand.asDouble()));
}

Element rsqrt(const Element &operand) {
  return apply(operand, [](auto value) { return 1.0 / std::sqrt(value); });
}

Element sign(const Element &operand) {
  if (isInteger(operand.type()))
    return Element::integer(operand.type(), (operand.asSigned() > 0) - (operand.asSigned() < 0));
  return isFloat(operand.type()) ? Element::number(operand.type(), realSign(operand.asDouble()))
                                 : Element::complex(operand.type(), complexSign(operand.asComplex()));
}

Element sine(const Element &operand) {
  return apply(operand, [](auto value) { return std::sin(value); });
}

Element sqrt(const Element &operand) {
  return apply(operand, [](auto value) { return std::sqrt(value); });
}

Element tan(const Element &operand) {
  return apply(operand, [](auto value) { return std::tan(value); });
}

Element tanh(const Element &operand) {
  return apply(operand, [](auto value) { return std::tanh(value); });
}

} // namespace torchere::evaluation
