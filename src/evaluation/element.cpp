// Implements the encodings of elements and conversions between types.
#include "evaluation/element.h"

#include "base/error.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace torchere::evaluation {

static double roundTo(ElementType type, double value) {
  ElementType part = partType(type);
  if (part == ElementType::F64)
    return value;
  if (part == ElementType::F32 && !std::isnan(value))
    return static_cast<float>(value);
  const FloatFormat &format = *elementTypeInfo(part).format;
  return decodeFloat(encodeFloat(value, format), format);
}

static uint64_t wrap(const ElementTypeInfo &info, uint64_t value) {
  if (info.kind == ElementKind::Bool)
    return value != 0;
  int unused = 64 - info.bits;
  return info.kind == ElementKind::Signed
             ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused)
             : value << unused >> unused;
}

Element Element::integer(ElementType type, uint64_t value) {
  Element element;
  element.elementType = type;
  element.bits = wrap(elementTypeInfo(type), value);
  return element;
}

Element Element::number(ElementType type, double value) {
  Element element;
  element.elementType = type;
  element.value = roundTo(type, value);
  return element;
}

Element Element::complex(ElementType type, std::complex<double> value) {
  Element element;
  element.elementType = type;
  element.value = {roundTo(type, value.real()), roundTo(type, value.imag())};
  return element;
}

template <class T> static T loadAs(const std::byte *source) {
  T value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

static double loadFloat(ElementType type, const std::byte *source) {
  if (type == ElementType::F64)
    return loadAs<double>(source);
  if (type == ElementType::F32) {
    auto value = loadAs<float>(source); // a conversion to double would make a NaN quiet
    return std::isnan(value) ? decodeFloat(loadAs<uint32_t>(source), float32) : value;
  }
  const ElementTypeInfo &info = elementTypeInfo(type);
  uint32_t bits = info.bytes() == 1 ? loadAs<uint8_t>(source) : loadAs<uint16_t>(source);
  return decodeFloat(bits, *info.format);
}

Element Element::load(ElementType type, const std::byte *source) {
  const ElementTypeInfo &info = elementTypeInfo(type);
  Element element;
  element.elementType = type;
  if (info.kind == ElementKind::Float) {
    element.value = loadFloat(type, source);
  } else if (info.kind == ElementKind::Complex) {
    element.value = {loadFloat(partType(type), source), loadFloat(partType(type), source + info.bytes() / 2)};
  } else {
    uint64_t value = 0; // little-endian
    std::memcpy(&value, source, info.bytes());
    element.bits = wrap(info, value);
  }
  return element;
}

static void storeFloat(ElementType type, double value, std::byte *target) {
  if (type == ElementType::F64) {
    std::memcpy(target, &value, sizeof value);
  } else if (type == ElementType::F32 && !std::isnan(value)) {
    auto narrow = static_cast<float>(value);
    std::memcpy(target, &narrow, sizeof narrow);
  } else {
    const ElementTypeInfo &info = elementTypeInfo(type);
    uint32_t bits = encodeFloat(value, *info.format);
    std::memcpy(target, &bits, info.bytes());
  }
}

void Element::store(std::byte *target) const {
  const ElementTypeInfo &info = elementTypeInfo(elementType);
  if (info.kind == ElementKind::Float) {
    storeFloat(elementType, value.real(), target);
  } else if (info.kind == ElementKind::Complex) {
    storeFloat(partType(elementType), value.real(), target);
    storeFloat(partType(elementType), value.imag(), target + info.bytes() / 2);
  } else {
    uint64_t encoding = info.bits < 8 ? bits & ((1u << info.bits) - 1) : bits;
    std::memcpy(target, &encoding, info.bytes());
  }
}

static double quieted(double nan) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | uint64_t(1) << 51);
}

Element Element::result(ElementType type, double value, double lhs, double rhs) {
  if (!std::isnan(value))
    return number(type, value);
  double nan = std::isnan(lhs) ? lhs : std::isnan(rhs) ? rhs : std::numeric_limits<double>::quiet_NaN();
  return number(type, quieted(nan));
}

/// The shortest text that reads back as the same number of its type.
static std::string floatText(ElementType type, double value) {
  if (std::isnan(value))
    return "nan"; // without the sign that fmt prints
  return type == ElementType::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string Element::text() const {
  switch (elementTypeInfo(elementType).kind) {
  case ElementKind::Bool:
    return asBool() ? "true" : "false";
  case ElementKind::Signed:
    return fmt::format("{}", asSigned());
  case ElementKind::Unsigned:
    return fmt::format("{}", asUnsigned());
  case ElementKind::Float:
    return floatText(elementType, value.real());
  case ElementKind::Complex:
    return fmt::format("({},{})", floatText(partType(elementType), value.real()),
                       floatText(partType(elementType), value.imag()));
  }
  return "";
}

static bool isSameNumber(double lhs, double rhs) {
  return (std::isnan(lhs) && std::isnan(rhs)) || std::bit_cast<uint64_t>(lhs) == std::bit_cast<uint64_t>(rhs);
}

bool isSame(const Element &lhs, const Element &rhs) {
  return lhs.type() == rhs.type() && lhs.asUnsigned() == rhs.asUnsigned() &&
         isSameNumber(lhs.asComplex().real(), rhs.asComplex().real()) &&
         isSameNumber(lhs.asComplex().imag(), rhs.asComplex().imag());
}

bool isTotallyLess(double lhs, double rhs) {
  auto key = [](double value) {
    auto bits = std::bit_cast<int64_t>(value);
    return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
  };
  return key(lhs) < key(rhs);
}

/// A double that rounds to any narrower type as the integer does: if bits are lost, the last one is set.
static double toDouble(const Element &element) {
  bool isNegative = !isUnsigned(element.type()) && element.asSigned() < 0;
  uint64_t magnitude = isNegative ? -element.asUnsigned() : element.asUnsigned();
  int excess = std::max(0, 64 - std::countl_zero(magnitude) - 53);
  if (excess != 0 && (magnitude & ((uint64_t(1) << excess) - 1)) != 0)
    magnitude = (magnitude >> excess | 1) << excess;
  auto value = static_cast<double>(magnitude);
  return isNegative ? -value : value;
}

static Element integerToFloat(const Element &element, ElementType type) {
  if (type == ElementType::F64 || type == ElementType::C128)
    return Element::number(type, isUnsigned(element.type()) ? static_cast<double>(element.asUnsigned())
                                                            : static_cast<double>(element.asSigned()));
  return Element::number(type, toDouble(element));
}

/// The bounds of an integer type, as doubles.
struct IntegerRange {
  explicit IntegerRange(ElementType type)
      : isSigned(elementTypeInfo(type).kind == ElementKind::Signed),
        magnitudeBits(elementTypeInfo(type).bits - (isSigned ? 1 : 0)), end(std::ldexp(1.0, magnitudeBits)),
        least(isSigned ? -end : 0) {}

  bool isSigned;
  int magnitudeBits;
  double end; ///< one past the largest
  double least;
};

static Element floatToInteger(double value, ElementType type) {
  IntegerRange range(type);
  if (std::isnan(value))
    return Element::integer(type, 0);
  if (value >= range.end)
    return Element::integer(type, ~uint64_t(0) >> (64 - range.magnitudeBits));
  if (value <= range.least)
    return Element::integer(type, range.isSigned ? uint64_t(1) << range.magnitudeBits : 0);
  return Element::integer(type, range.isSigned ? static_cast<uint64_t>(static_cast<int64_t>(value))
                                               : static_cast<uint64_t>(value));
}

bool isConversionDefined(const Element &element, ElementType type) {
  bool fromFloat = isFloat(element.type()) || isComplex(element.type());
  if (!fromFloat || !isInteger(type))
    return true;
  IntegerRange range(type);
  double whole = std::trunc(element.asDouble());
  return whole >= range.least && whole < range.end; // false for NaN
}

Element convert(const Element &element, ElementType type) {
  ElementKind from = elementTypeInfo(element.type()).kind, to = elementTypeInfo(type).kind;
  bool fromFloat = from == ElementKind::Float || from == ElementKind::Complex;
  if (to == ElementKind::Bool)
    return Element::integer(type, fromFloat ? element.asDouble() != 0 : element.asBool());
  if (to == ElementKind::Complex && fromFloat)
    return Element::complex(type, element.asComplex());
  if (to == ElementKind::Float || to == ElementKind::Complex)
    return fromFloat ? Element::result(type, element.asDouble(), element.asDouble())
                     : integerToFloat(element, type);
  return fromFloat ? floatToInteger(element.asDouble(), type) : Element::integer(type, element.asUnsigned());
}

Element reducePrecision(const Element &element, int exponentBits, int mantissaBits) {
  const FloatFormat &own = *elementTypeInfo(element.type()).format;
  double value = element.asDouble();
  if (!std::isfinite(value) || value == 0)
    return element;
  if (mantissaBits < own.mantissaBits) {
    // Digits are those of the element's own encoding, in which denormals have fewer, and where ties go to an
    // even exponent if no digit stays, as in XLA.
    int exponent = std::max(std::ilogb(value), 1 - own.bias);
    double digits = std::scalbn(value, mantissaBits - exponent), rounded = std::nearbyint(digits);
    if (mantissaBits == 0 && std::abs(digits) == 1.5)
      rounded = std::copysign((exponent + own.bias) % 2 == 0 ? 1.0 : 2.0, value);
    value = std::scalbn(rounded, exponent - mantissaBits);
  }
  if (exponentBits < own.exponentBits && value != 0) {
    // The smallest normal number's exponent is 1 - bias, the largest number's is bias; there are no
    // denormals.
    int bias = (1 << (exponentBits - 1)) - 1;
    if (std::ilogb(value) > bias)
      value = std::copysign(HUGE_VAL, value);
    else if (std::ilogb(value) < 1 - bias)
      value = std::copysign(0.0, value);
  }
  return Element::number(element.type(), value);
}

} // namespace torchere::evaluation
