// Sums of products, for contractions and convolutions: accumulated in 64 bits, rounded to the result's type
// once.
#pragma once

#include "interpreter/value.h"

namespace torchere::interpreter {

template <class Number> Number numberOf(const Element &element);
template <> inline uint64_t numberOf<uint64_t>(const Element &element) {
  return element.asUnsigned();
}
template <> inline double numberOf<double>(const Element &element) {
  return element.asDouble();
}
template <> inline std::complex<double> numberOf<std::complex<double>>(const Element &element) {
  return element.asComplex();
}

inline Element elementOf(ElementType type, uint64_t number) {
  return Element::integer(type, number);
}
inline Element elementOf(ElementType type, double number) {
  return Element::number(type, number);
}
inline Element elementOf(ElementType type, std::complex<double> number) {
  return Element::complex(type, number);
}

/// A tensor's elements, converted to `type` if they are of another kind.
template <class Number> std::vector<Number> numbersOf(const Tensor &tensor, ElementType type) {
  bool isOtherKind = elementTypeInfo(tensor.type()).kind != elementTypeInfo(type).kind;
  std::vector<Number> numbers;
  numbers.reserve(static_cast<size_t>(tensor.count()));
  for (int64_t position = 0; position < tensor.count(); ++position) {
    Element element = tensor.at(position);
    numbers.push_back(numberOf<Number>(isOtherKind ? convert(element, type) : element));
  }
  return numbers;
}

/// Calls `function` with a zero of the C++ type in which elements of `type` are accumulated. Integers are
/// exact modulo 2^bits; a bool is whether the sum is not zero.
template <class Function> auto withNumber(ElementType type, Function function) {
  if (isComplex(type))
    return function(std::complex<double>());
  return isFloat(type) ? function(double()) : function(uint64_t());
}

/// Adds a product; for complex numbers without C's recovery of infinities.
template <class Number> void addProduct(Number &sum, Number lhs, Number rhs) {
  sum += lhs * rhs;
}
inline void addProduct(std::complex<double> &sum, std::complex<double> lhs, std::complex<double> rhs) {
  sum += std::complex<double>(lhs.real() * rhs.real() - lhs.imag() * rhs.imag(),
                              lhs.real() * rhs.imag() + lhs.imag() * rhs.real());
}

} // namespace torchere::interpreter
