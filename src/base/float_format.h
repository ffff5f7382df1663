// FloatFormat: floating-point formats, and exact conversion of the values of those of up to 32 bits to
// double.
#pragma once

#include "base/export.h"

#include <cstdint>

namespace torchere {

/// The meaning of the encodings with the largest exponent, and of negative zero.
enum class FloatSpecials : uint8_t {
  Ieee,      ///< the largest exponent is infinity and NaN
  Fn,        ///< no infinity; all ones is NaN
  Fnuz,      ///< no infinity and no negative zero, whose encoding is NaN
  Finite,    ///< neither infinity nor NaN: conversion keeps to the largest number, and makes -0 of NaN
  PowerOnly, ///< no sign, no zero and no mantissa: 2 to the exponent less the bias; all ones is NaN
};

/// From the highest bit: sign, exponent, mantissa.
struct FloatFormat {
  int exponentBits;
  int mantissaBits;
  int bias;
  FloatSpecials specials;
};

inline constexpr FloatFormat float64 = {11, 52, 1023, FloatSpecials::Ieee};
inline constexpr FloatFormat float32 = {8, 23, 127, FloatSpecials::Ieee};
inline constexpr FloatFormat float16 = {5, 10, 15, FloatSpecials::Ieee};
inline constexpr FloatFormat bfloat16 = {8, 7, 127, FloatSpecials::Ieee};
inline constexpr FloatFormat float8E5M2 = {5, 2, 15, FloatSpecials::Ieee};
inline constexpr FloatFormat float8E5M2FNUZ = {5, 2, 16, FloatSpecials::Fnuz};
inline constexpr FloatFormat float8E4M3 = {4, 3, 7, FloatSpecials::Ieee};
inline constexpr FloatFormat float8E4M3FN = {4, 3, 7, FloatSpecials::Fn};
inline constexpr FloatFormat float8E4M3FNUZ = {4, 3, 8, FloatSpecials::Fnuz};
inline constexpr FloatFormat float8E4M3B11FNUZ = {4, 3, 11, FloatSpecials::Fnuz};
inline constexpr FloatFormat float8E3M4 = {3, 4, 3, FloatSpecials::Ieee};
inline constexpr FloatFormat float8E8M0FNU = {8, 0, 127, FloatSpecials::PowerOnly};
inline constexpr FloatFormat float6E3M2FN = {3, 2, 3, FloatSpecials::Finite};
inline constexpr FloatFormat float6E2M3FN = {2, 3, 1, FloatSpecials::Finite};
inline constexpr FloatFormat float4E2M1FN = {2, 1, 1, FloatSpecials::Finite};

/// Of a format of up to 32 bits. NaN keeps its sign and payload, as far as the format has them.
TORCHERE_EXPORT double decodeFloat(uint32_t bits, const FloatFormat &format);

/// The nearest value of the format, ties to even. Overflow becomes infinity or, in a format without one,
/// NaN. NaN keeps its sign and the upper bits of its payload, as far as the format has them.
TORCHERE_EXPORT uint32_t encodeFloat(double value, const FloatFormat &format);

} // namespace torchere
