// Elementary functions of vectors of f64, within about a unit in the last place. Series are those of Taylor,
// as long as f64 needs.
#pragma once

#include "cpu/kernels/isa/math.h"

namespace torchere::cpu::TORCHERE_ISA {

/// Whether the lanes hold, of a comparison of f64.
TORCHERE_INLINE bool holdsInAll(Vec<int64_t> lanes) {
#if defined(__AVX512F__)
  return _mm512_movepi64_mask((__m512i)lanes) == 0xff;
#else
  int64_t all = -1;
#pragma GCC unroll 4
  for (int i = 0; i < kLanesOf<double>; ++i)
    all &= lanes[i];
  return all != 0;
#endif
}

using D = Vec<double>;

/// Added and subtracted, it rounds to an integer; the sum's low bits are that integer.
constexpr double kDoubleRounder = 6755399441055744.0;
constexpr double kDoubleLn2High = 0x1.62e42feep-1; // 32 bits, so that n * it is exact
constexpr double kDoubleLn2Low = 0x1.a39ef35793c76p-33;

TORCHERE_INLINE D powerOfTwo(Vec<uint64_t> n) {
  return (D)((n + 1023) << 52);
}

/// exp(r) - 1 of x = n ln2 + r.
TORCHERE_INLINE D exponentialOfRest(D x, Vec<uint64_t> &n) {
  D shifted = x * 1.44269504088896340736 + kDoubleRounder, whole = shifted - kDoubleRounder;
  n = (Vec<uint64_t>)shifted - (Vec<uint64_t>)splat(kDoubleRounder);
  D r = x - whole * kDoubleLn2High - whole * kDoubleLn2Low, z = r * r;
  constexpr double odd[] = {1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6};
  constexpr double even[] = {1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320, 1.0 / 720, 1.0 / 24, 1.0 / 2};
  return (polynomialOf(z, odd) * r + polynomialOf(z, even)) * z + r;
}

TORCHERE_INLINE D exponential(D x) {
  x = x < -746.0 ? splat(-746.0) : x;
  x = x > 710.0 ? splat(710.0) : x;
  Vec<uint64_t> n;
  D p = exponentialOfRest(x, n);
  auto half = ((n + 2048) >> 1) - 1024; // two factors: 2^1024 and 2^-1074 have none
  D factor = powerOfTwo(half);
  return (p * factor + factor) * powerOfTwo(n - half);
}

TORCHERE_INLINE D exponentialMinusOne(D x) {
  D bounded = x < -40.0 ? splat(-40.0) : x;
  bounded = bounded > 710.0 ? splat(710.0) : bounded;
  Vec<uint64_t> n;
  D p = exponentialOfRest(bounded, n), half = powerOfTwo(n - 1); // 2^1024 has none
  D y = (p * half + (half - 0.5)) * 2.0;
  return (x < 1e-17) & (x > -1e-17) ? x : y; // also keeps -0 and denormals
}

TORCHERE_INLINE D hyperbolicTangent(D x) {
  D e = exponentialMinusOne(x < 0.0 ? x + x : -(x + x)), y = -e / (e + 2.0);
  return x == 0.0 ? x : x < 0.0 ? -y : y;
}

/// As in f32, below this magnitude: quarters of pi are counted in 20 bits, and the parts of pi have 33.
constexpr double kMostCircular = 1e6;
TORCHERE_INLINE QuarterTurns<double, Vec<int64_t>> quarterTurns(D x) {
  D shifted = x * 0.63661977236758134308 + kDoubleRounder, q = shifted - kDoubleRounder;
  // The first two differences are exact, the second one with what its rounding leaves: r and `rest` are all.
  D first = x - q * 0x1.921fb544p+0, second = q * 0x1.0b4611a6p-34, large = first - second;
  D small = ((first - large) - second) - q * 0x1.3198a2ep-69 - q * 0x1.b839a252049c1p-104;
  D r = large + small, rest = (large - r) + small;
  constexpr double s[] = {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                          1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  constexpr double c[] = {-1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                          -1.0 / 3628800,          1.0 / 40320,          -1.0 / 720,         1.0 / 24};
  D z = r * r, half = z * 0.5, near = 1.0 - half;
  return {(Vec<int64_t>)shifted, r + (r * z * polynomialOf(z, s) + rest * near),
          near + (((1.0 - near) - half) + (z * z * polynomialOf(z, c) - r * rest))};
}
template <bool kCosine> TORCHERE_INLINE D circular(D x) {
  return orOneByOne(circularOf<kCosine>(quarterTurns(x), x), x, kMostCircular,
                    [](double each) { return kCosine ? __builtin_cos(each) : __builtin_sin(each); });
}
TORCHERE_INLINE D tangent(D x) {
  return orOneByOne(tangentOf(quarterTurns(x), x), x, kMostCircular,
                    [](double each) { return __builtin_tan(each); });
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
