// Implements the encodings of small floats.
#include "base/float_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace torchere {

static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
static constexpr uint64_t infinityBits = uint64_t(0x7FF) << 52; ///< of a double
static constexpr int doubleMantissaBits = 52;

/// A double that is NaN, whose mantissa begins with that of the format.
static double decodeNan(uint32_t mantissa, bool isNegative, const FloatFormat &format) {
  uint64_t payload = uint64_t(mantissa) << (doubleMantissaBits - format.mantissaBits);
  return std::bit_cast<double>(uint64_t(isNegative) << 63 | infinityBits | payload);
}

/// The mantissa of a NaN; quiet if the format has no room for the bits that are set.
static uint32_t encodeNan(double value, const FloatFormat &format) {
  uint64_t payload = std::bit_cast<uint64_t>(value) & ((uint64_t(1) << doubleMantissaBits) - 1);
  auto mantissa = static_cast<uint32_t>(payload >> (doubleMantissaBits - format.mantissaBits));
  return mantissa != 0 ? mantissa : 1u << (format.mantissaBits - 1);
}

static double decodePower(uint32_t bits, const FloatFormat &format) {
  return bits == (1u << format.exponentBits) - 1 ? nan
                                                 : std::ldexp(1.0, static_cast<int>(bits) - format.bias);
}

double decodeFloat(uint32_t bits, const FloatFormat &format) {
  if (format.specials == FloatSpecials::PowerOnly)
    return decodePower(bits, format);
  uint32_t mantissaMask = (1u << format.mantissaBits) - 1, exponentMask = (1u << format.exponentBits) - 1;
  uint32_t mantissa = bits & mantissaMask, exponent = bits >> format.mantissaBits & exponentMask;
  bool isNegative = bits >> (format.mantissaBits + format.exponentBits) & 1;
  if (format.specials == FloatSpecials::Ieee && exponent == exponentMask)
    return mantissa ? decodeNan(mantissa, isNegative, format) : isNegative ? -HUGE_VAL : HUGE_VAL;
  if (format.specials == FloatSpecials::Fn && exponent == exponentMask && mantissa == mantissaMask)
    return isNegative ? -nan : nan;
  if (format.specials == FloatSpecials::Fnuz && isNegative && exponent == 0 && mantissa == 0)
    return nan;
  double fraction = std::ldexp(mantissa, -format.mantissaBits);
  double value = exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                               : std::ldexp(1 + fraction, static_cast<int>(exponent) - format.bias);
  return isNegative ? -value : value;
}

static uint32_t encodePower(double value, const FloatFormat &format) {
  uint32_t all = (1u << format.exponentBits) - 1;
  if (!(value > 0) || std::isinf(value))
    return all;
  int exponent = std::ilogb(value);
  if (std::scalbn(value, -exponent) >= 1.5)
    ++exponent;
  return std::min<int64_t>(std::max(exponent + format.bias, 0), all);
}

uint32_t encodeFloat(double value, const FloatFormat &format) {
  if (format.specials == FloatSpecials::PowerOnly)
    return encodePower(value, format);
  uint32_t allOnes = (1u << (format.exponentBits + format.mantissaBits)) - 1;
  uint32_t largestExponent = ((1u << format.exponentBits) - 1) << format.mantissaBits;
  uint32_t signBit = allOnes + 1, sign = std::signbit(value) ? signBit : 0;
  if (std::isnan(value)) {
    switch (format.specials) {
    case FloatSpecials::Ieee:
      return sign | largestExponent | encodeNan(value, format);
    case FloatSpecials::Fn:
      return sign | allOnes;
    case FloatSpecials::Fnuz:
    case FloatSpecials::Finite:
    case FloatSpecials::PowerOnly: // encoded above
      return signBit;
    }
  }
  uint32_t bits = allOnes + 1; // beyond every number
  double magnitude = std::fabs(value);
  int smallest = 1 - format.bias; // exponent of the smallest normal number
  if (magnitude < std::ldexp(1.0, (1 << format.exponentBits) - format.bias)) {
    int exponent = magnitude == 0 ? smallest : std::max(std::ilogb(magnitude), smallest);
    // The quotient has the leading one, which adds 1 to the exponent field of normal numbers, as does a
    // carry.
    double quotient = std::nearbyint(std::scalbn(magnitude, format.mantissaBits - exponent));
    bits =
        static_cast<uint32_t>(quotient) + (static_cast<uint32_t>(exponent - smallest) << format.mantissaBits);
  }
  switch (format.specials) {
  case FloatSpecials::Ieee:
    return sign | std::min(bits, largestExponent);
  case FloatSpecials::Fn:
    return sign | std::min(bits, allOnes);
  case FloatSpecials::Fnuz:
    return bits == 0 ? 0 : bits > allOnes ? signBit : sign | bits;
  case FloatSpecials::Finite:
  case FloatSpecials::PowerOnly:
    break;
  }
  return sign | std::min(bits, allOnes);
}

} // namespace torchere
