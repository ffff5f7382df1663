// Elementary functions of vectors of f64, within about a unit in the last place. Series are those of Taylor,
// as long as f64 needs.
#pragma once

#include "cpu/kernels/isa/math.h"

namespace torchere::cpu::TORCHERE_ISA {

using D = Vec<double>;

/// Added and subtracted, it rounds to an integer; the sum's low bits are that integer.
constexpr double kDoubleRounder = 6755399441055744.0;
constexpr double kDoubleLn2High = 0x1.62e42feep-1; // 32 bits, so that n * it is exact
constexpr double kDoubleLn2Low = 0x1.a39ef35793c76p-33;

TORCHERE_INLINE D powerOfTwo(Vec<uint64_t> n) {
  return (D)((n + 1023) << 52);
}

TORCHERE_INLINE D exponential(D x) {
  x = x < -746.0 ? splat(-746.0) : x;
  x = x > 710.0 ? splat(710.0) : x;
  D shifted = x * 1.44269504088896340736 + kDoubleRounder, whole = shifted - kDoubleRounder;
  auto n = (Vec<uint64_t>)shifted - (Vec<uint64_t>)splat(kDoubleRounder);
  D r = x - whole * kDoubleLn2High - whole * kDoubleLn2Low, z = r * r;
  constexpr double odd[] = {1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6};
  constexpr double even[] = {1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320, 1.0 / 720, 1.0 / 24, 1.0 / 2};
  D p = (polynomialOf(z, odd) * r + polynomialOf(z, even)) * z + r;
  auto half = ((n + 2048) >> 1) - 1024; // two factors: 2^1024 and 2^-1074 have none
  D factor = powerOfTwo(half);
  return (p * factor + factor) * powerOfTwo(n - half);
}

/// x = m 2^k with m near 1, f = m - 1 and s = f / (2 + f): log m = f - (f^2 / 2 - s (f^2 / 2 + the series)).
TORCHERE_INLINE D logarithm(D x) {
  constexpr double infinity = __builtin_inf();
  auto isSmall = x < 0x1p-1022;
  auto bits = (Vec<uint64_t>)(isSmall ? x * 0x1p54 : x);
  constexpr uint64_t rootOfHalf = 0x3fe6a09e667f3bcd, offset = 2048;
  auto exponent = (bits - rootOfHalf + (offset << 52)) >> 52; // and the offset
  D f = (D)(bits - ((exponent - offset) << 52)) - 1.0;
  D k = (D)(exponent + (Vec<uint64_t>)splat(kDoubleRounder)) - (kDoubleRounder + offset);
  k = isSmall ? k - 54.0 : k;
  D s = f / (f + 2.0), z = s * s, h = 0.5 * f * f;
  constexpr double c[] = {2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                          2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
  D y = k * kDoubleLn2High - ((h - (s * (h + polynomialOf(z, c) * z) + k * kDoubleLn2Low)) - f);
  y = x == 0.0 ? splat(-infinity) : y;
  y = x < 0.0 ? splat(__builtin_nan("")) : y;
  return x < infinity ? y : x; // infinity and NaN
}
TORCHERE_INLINE D logistic(D x) {
  return 1.0 / (1.0 + exponential(-x));
}

} // namespace torchere::cpu::TORCHERE_ISA
