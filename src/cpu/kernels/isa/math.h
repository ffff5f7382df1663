// Elementary functions of vectors of f32: polynomials fitted for this file, within about 2 units in the last
// place.
#pragma once

#include "cpu/kernels/epilogue.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {

constexpr float kInfinity = __builtin_inff();
constexpr float kLn2High = 0.693145752f; // 16 bits, so that n * it is exact
constexpr float kLn2Low = 1.42860677e-6f;
/// Added and subtracted, it rounds to an integer; the sum's low bits are that integer.
constexpr float kRounder = 12582912.0f;

/// The coefficient of the highest power comes first.
template <class T, int kCount> TORCHERE_INLINE Vec<T> polynomialOf(Vec<T> x, const T (&c)[kCount]) {
  Vec<T> p = splat(c[0]);
#pragma GCC unroll 16
  for (int i = 1; i < kCount; ++i)
    p = p * x + c[i];
  return p;
}
TORCHERE_INLINE F absolute(F x) {
  return asFloat(asInt(x) & 0x7fffffff);
}
TORCHERE_INLINE F withSign(F magnitude, F sign) {
  return asFloat((asInt(magnitude) & 0x7fffffff) | (asInt(sign) & static_cast<int>(0x80000000)));
}
/// NaN stays.
TORCHERE_INLINE F clampTo(F x, float low, float high) {
  return larger(splat(low), smaller(splat(high), x));
}
TORCHERE_INLINE F powerOfTwo(I n) {
  return asFloat((n + 127) << 23);
}
TORCHERE_INLINE F squareRoot(F x) {
#if defined(__AVX512F__)
  return (F)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  return (F)_mm256_sqrt_ps((__m256)x);
#else
  for (int i = 0; i < kLanes; ++i)
    x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

/// x = n ln2 + r with |r| at most half of ln2.
TORCHERE_INLINE F reduceByLn2(F x, I &n) {
  F shifted = x * 1.44269504f + kRounder;
  F whole = shifted - kRounder;
  n = asInt(shifted) - static_cast<int>(0x4b400000);
  return x - whole * kLn2High - whole * kLn2Low;
}

/// exp(r) - 1 of what is left of a reduction by ln2. Few steps wait for each other.
TORCHERE_INLINE F exponentialOfRest(F r) {
  F z = r * r, low = r * 1.666651830e-01f + 5.000000096e-01f, high = r * 8.368953642e-03f + 4.166620414e-02f;
  high = z * 1.395060233e-03f + high;
  low = z * high + low;
  return z * low + r;
}
TORCHERE_INLINE F exponential(F x) {
#if defined(__AVX512F__)
  F bounded = clampTo(x, -104.0f, 89.0f);
  F whole = bounded * 1.44269504f + kRounder - kRounder;
  F p = exponentialOfRest(bounded - whole * kLn2High - whole * kLn2Low) + 1.0f;
  return (F)_mm512_scalef_ps((__m512)p, (__m512)whole);
#else
  I n;
  F p = exponentialOfRest(reduceByLn2(clampTo(x, -104.0f, 89.0f), n));
  I half = n >> 1; // two factors: 2^128 and 2^-149 have none
  F factor = powerOfTwo(half);
  return (p * factor + factor) * powerOfTwo(n - half);
#endif
}

/// The whole part is exact, and so is the rest before it is scaled.
TORCHERE_INLINE F powerOfTwo(F x) {
  F bounded = clampTo(x, -152.0f, 129.0f);
  F shifted = bounded + kRounder, whole = shifted - kRounder;
  F p = exponentialOfRest((bounded - whole) * 0.693147181f);
  I n = asInt(shifted) - static_cast<int>(0x4b400000), half = n >> 1; // two factors, as in exponential()
  F factor = powerOfTwo(half);
  return (p * factor + factor) * powerOfTwo(n - half);
}

/// y / x of x that is at least 1, or NaN: one step from an estimate of 14 bits, where there is one.
TORCHERE_INLINE F quotientByLarge(F y, F x) {
#if defined(__AVX512F__)
  __m512 estimate = _mm512_rcp14_ps((__m512)x);
  __m512 rest = _mm512_fnmadd_ps((__m512)x, estimate, _mm512_set1_ps(1.0f));
  // That of infinity is 0.
  __mmask16 isFinite = _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(kInfinity), _CMP_LT_OQ);
  return y * (F)_mm512_mask_fmadd_ps(estimate, isFinite, rest, estimate);
#else
  return y / x;
#endif
}

/// Of arguments that are at most 0, or at least not above 88; below the normal numbers it is 0.
TORCHERE_INLINE F exponentialOfNegative(F x) {
  constexpr float rounder = kRounder + 127.0f; // the sum's low bits are the exponent of 2^n
  x = larger(splat(-88.1f), x);
  F shifted = x * 1.44269504f + rounder;
  F whole = shifted - rounder;
  F factor = asFloat(asInt(shifted) << 23);
  return exponentialOfRest(x - whole * kLn2High - whole * kLn2Low) * factor + factor;
}

TORCHERE_INLINE F exponentialMinusOne(F x) {
  constexpr float c[] = {1.991430212e-04f, 1.394110243e-03f, 8.333272831e-03f,
                         4.166635354e-02f, 1.666666682e-01f, 5.000000047e-01f};
  I n;
  F r = reduceByLn2(clampTo(x, -40.0f, 89.0f), n);
  F p = r + r * r * polynomialOf(r, c);
  F scale = powerOfTwo(n - 1);
  F y = (p * scale + (scale - 0.5f)) * 2.0f;
  return absolute(x) < 1e-8f ? x : y; // also keeps -0 and denormals
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)).
TORCHERE_INLINE F splitExponent(F x, F &e) {
  auto tiny = x < 1.17549435e-38f;
  x = tiny ? x * 8388608.0f : x;
  U bits = (U)x; // wraps for negative x, whose result is not used
  I n = (I)(bits - 0x3f3504f3u) >> 23;
  e = __builtin_convertvector(n, F) + (tiny ? splat(-23.0f) : F{});
  return (F)(bits - ((U)n << 23));
}

TORCHERE_INLINE F logarithm(F x) {
  constexpr float c[] = {6.915427483e-02f,  -1.178984103e-01f, 1.187296725e-01f,
                         -1.238434227e-01f, 1.421865856e-01f,  -1.666925119e-01f,
                         2.000222660e-01f,  -2.499998659e-01f, 3.333331044e-01f};
  F e;
  F f = splitExponent(x, e) - 1.0f;
  F z = f * f;
  F tail = z * f * polynomialOf(f, c) + e * kLn2Low - 0.5f * z;
  F y = f + tail + e * kLn2High;
  y = x == kInfinity ? x : y;
  y = x == 0.0f ? splat(-kInfinity) : y;
  y = x < 0.0f ? splat(__builtin_nanf("")) : y;
  return x != x ? x : y;
}

TORCHERE_INLINE F logarithmPlusOne(F x) {
  F u = 1.0f + x;
  // What the addition rounded away.
  F lost = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  F y = logarithm(u) + lost / u;
  y = absolute(x) < 1e-8f ? x : y;
  y = x == kInfinity ? x : y;
  return x == -1.0f ? splat(-kInfinity) : y;
}

TORCHERE_INLINE F hyperbolicTangent(F x) {
  constexpr float c[] = {2.147538927e-03f,  -8.182676399e-03f, 2.170296828e-02f,
                         -5.394720452e-02f, 1.333320977e-01f,  -3.333333091e-01f};
  F t = absolute(x), z = x * x;
  F near = x + x * z * polynomialOf(z, c);
  F far = 1.0f - quotientByLarge(splat(2.0f), exponential(t * 2.0f) + 1.0f);
  return withSign(t < 0.625f ? near : far, x);
}

/// For |x| < 0.94.
TORCHERE_INLINE F errorFunctionNearZero(F x) {
  constexpr float c[] = {-5.886776228e-04f, 4.973117369e-03f,  -2.675333502e-02f,
                         1.128146656e-01f,  -3.761246268e-01f, 1.283791454e-01f};
  return x + x * polynomialOf(x * x, c);
}
TORCHERE_INLINE F errorFunction(F x) {
  constexpr float large[] = {5.297070330e-06f,  -4.994129344e-05f, -2.743111305e-05f, 2.869110076e-03f,
                             -2.257559862e-02f, 1.051694793e-01f,  6.356731577e-01f,  1.128541437e+00f};
  F t = absolute(x), near = errorFunctionNearZero(x);
  F bounded = t > 4.0f ? splat(4.0f) : t;
  F far = 1.0f - exponentialOfNegative(-bounded * polynomialOf(bounded, large));
  return t < 0.94f ? near : withSign(far, x);
}

/// Of positive x by exp(-x * x), whose square is in two parts; that of the first is exact.
TORCHERE_INLINE F errorFunctionComplement(F x) {
  // (1 + 2 t) exp(t * t) erfc(t) in (t - 3) / (t + 3).
  constexpr float c[] = {-9.351062915e-05f, -5.131594360e-04f, 1.877494648e-03f,  2.284952149e-03f,
                         -2.376569217e-02f, 6.841075952e-02f,  -1.192745186e-01f, 1.296271749e-01f,
                         -4.756225171e-02f, -1.356202139e-01f, 1.253008058e+00f};
  F t = absolute(x);
  t = t > 11.0f ? splat(11.0f) : t;
  F rounded = (t * 256.0f + kRounder - kRounder) * 0.00390625f; // 12 bits
  F rest = (rounded - t) * (t + rounded), power = exponential(-(rounded * rounded));
  constexpr float e[] = {4.166666667e-02f, 1.666666667e-01f, 0.5f, 1.0f};
  F scaled = polynomialOf((t - 3.0f) / (t + 3.0f), c) / (1.0f + 2.0f * t);
  F positive = scaled * (power + power * (rest * polynomialOf(rest, e)));
  F far = x < 0.0f ? 2.0f - positive : positive;
  return t < 0.75f ? 1.0f - errorFunctionNearZero(x) : far;
}

/// In w = -log(1 - x * x), as a polynomial of w or of its root. NaN beyond 1.
TORCHERE_INLINE F inverseErrorFunction(F x) {
  constexpr float near[] = {-2.796041122e-13f, -2.051840989e-11f, 1.286157292e-10f,  8.198350332e-10f,
                            -1.089716850e-08f, 1.378211056e-08f,  4.788011552e-07f,  -3.417409516e-06f,
                            -4.996157259e-06f, 2.182510798e-04f,  -1.252707909e-03f, -4.177317955e-03f,
                            2.466402799e-01f,  1.501409292e+00f};
  constexpr float far[] = {1.074866159e-04f,  -3.011099761e-04f, -4.503476885e-05f, 1.474130782e-03f,
                           -3.603517078e-03f, 5.691407714e-03f,  -7.635962684e-03f, 9.444721043e-03f,
                           1.001674891e+00f,  2.832976818e+00f};
  F w = -logarithm((1.0f - x) * (1.0f + x)); // not 1 - x * x, whose rounding error matters near 1
  F ratio = w < 5.0f ? polynomialOf(w - 2.5f, near) : polynomialOf(squareRoot(w) - 3.0f, far);
  return absolute(x) == 1.0f ? x * kInfinity : x * ratio;
}

/// The angle of (x, y), by the quotient of the lesser and the greater.
TORCHERE_INLINE F angle(F y, F x) {
  constexpr float c[] = {-2.447030274e-03f, 1.375028025e-02f,  -3.627016768e-02f,
                         6.284360588e-02f,  -8.673170209e-02f, 1.103799418e-01f,
                         -1.427911073e-01f, 1.999976635e-01f,  -3.333333135e-01f};
  F across = absolute(x), up = absolute(y);
  auto isSteep = up > across;
  F t = (isSteep ? across : up) / (isSteep ? up : across);
  t = up == across ? (up == 0.0f ? F{} : splat(1.0f)) : t; // also of infinities
  F z = t * t, a = t + t * (z * polynomialOf(z, c));
  a = isSteep ? (1.57079637f - a) - 4.37113883e-8f : a;
  a = asInt(x) < 0 ? (3.14159274f - a) - 8.74227766e-8f : a;
  return x != x || y != y ? x + y : withSign(a, y);
}

/// The rest of a division whose quotient is rounded towards zero; it is exact.
TORCHERE_INLINE F remainderOf(F x, F y) {
#if defined(__FMA__)
  F a = absolute(x), b = absolute(y), quotient = a / b;
  F whole = quotient + kRounder - kRounder, rest = a;
  for (int i = 0; i < kLanes; ++i)
    rest[i] = __builtin_fmaf(-whole[i], b[i], a[i]);
  rest = withSign(rest < 0.0f ? rest + b : rest, x);
  I isOther = quotient < 4194304.0f && b < kInfinity ? I{} : I{} - 1;
#else
  F rest = x;
  I isOther = I{} - 1;
#endif
  for (int i = 0; i < kLanes; ++i)
    if (__builtin_expect(isOther[i], 0))
      rest[i] = __builtin_fmodf(x[i], y[i]);
  return rest;
}

TORCHERE_INLINE F logistic(F x) {
  return quotientByLarge(splat(1.0f), 1.0f + exponential(-x));
}

/// The sine and cosine of what a reduction to quarters of pi leaves, and how many quarters it took: for |x|
/// below 8192.
template <class T, class Count> struct QuarterTurns {
  Count count;
  Vec<T> sine, cosine;
};
TORCHERE_INLINE QuarterTurns<float, I> quarterTurns(F x) {
  constexpr float s[] = {2.718274446e-06f, -1.983933099e-04f, 8.333329374e-03f, -1.666666664e-01f};
  constexpr float c[] = {-2.720989272e-07f, 2.479951589e-05f, -1.388888374e-03f, 4.166666662e-02f};
  F shifted = x * 0.636619772f + kRounder;
  F q = shifted - kRounder;
  F r = x - q * 1.5703125f - q * 4.83751296997e-4f;
  r = r - q * 7.54953362e-8f;
  r = r - q * 2.5633441e-12f;
  F z = r * r;
  return {asInt(shifted), r + r * z * polynomialOf(z, s), 1.0f - 0.5f * z + z * z * polynomialOf(z, c)};
}

/// y, but of what is not below the limit in magnitude the C library's, one by one.
template <class T, class Fn> TORCHERE_INLINE Vec<T> orOneByOne(Vec<T> y, Vec<T> x, T limit, Fn fn) {
  auto isNear = (x < limit) & (x > -limit);
  bool any = false;
  for (int i = 0; i < kLanesOf<T>; ++i)
    any |= isNear[i] == 0;
  if (__builtin_expect(any, 0))
    for (int i = 0; i < kLanesOf<T>; ++i)
      if (isNear[i] == 0)
        y[i] = fn(x[i]);
  return y;
}

template <bool kCosine, class T, class Count>
TORCHERE_INLINE Vec<T> circularOf(const QuarterTurns<T, Count> &turns, Vec<T> x) {
  Count quarter = turns.count + (kCosine ? 1 : 0);
  Vec<T> y = (quarter & 1) != 0 ? turns.cosine : turns.sine;
  y = (quarter & 2) != 0 ? -y : y;
  return !kCosine && x == T(0) ? x : y;
}
template <class T, class Count>
TORCHERE_INLINE Vec<T> tangentOf(const QuarterTurns<T, Count> &turns, Vec<T> x) {
  auto isOdd = (turns.count & 1) != 0;
  Vec<T> y = (isOdd ? turns.cosine : turns.sine) / (isOdd ? -turns.sine : turns.cosine);
  return x == T(0) ? x : y;
}

template <bool kCosine> TORCHERE_INLINE F circular(F x) {
  return orOneByOne(circularOf<kCosine>(quarterTurns(x), x), x, 8192.0f,
                    [](float each) { return kCosine ? __builtin_cosf(each) : __builtin_sinf(each); });
}
TORCHERE_INLINE F sine(F x) {
  return circular<false>(x);
}
TORCHERE_INLINE F cosine(F x) {
  return circular<true>(x);
}
TORCHERE_INLINE F tangent(F x) {
  return orOneByOne(tangentOf(quarterTurns(x), x), x, 8192.0f,
                    [](float each) { return __builtin_tanf(each); });
}

/// x times the normal distribution's share below x: exp(-p(|x|)) is its tail, which has no cancellation.
TORCHERE_INLINE F gelu(F x) {
  constexpr float c[] = {1.380677511e-06f, -2.028978364e-05f, 9.571534504e-05f,
                         1.756692100e-04f, -5.002020897e-03f, 3.646165631e-02f,
                         3.182739275e-01f, 7.978884632e-01f,  6.931471136e-01f};
  F tail = exponentialOfNegative(-polynomialOf(absolute(x), c));
  return x * (x < 0.0f ? tail : 1.0f - tail);
}
/// By tanh, whose half, with one half added, is the logistic function of twice the argument.
TORCHERE_INLINE F geluTanh(F x) {
  return quotientByLarge(x, 1.0f + exponential(x * (x * x * -0.0713548163f - 1.595769122f)));
}
TORCHERE_INLINE F silu(F x) {
  return quotientByLarge(x, 1.0f + exponential(-x));
}
TORCHERE_INLINE F hardSigmoid(F x) {
  return clampTo(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f);
}

template <Activation kActivation> TORCHERE_INLINE F activate(F x) {
  if constexpr (kActivation == Activation::Relu)
    return larger(F{}, x); // NaN and -0 stay
  else if constexpr (kActivation == Activation::Relu6)
    return clampTo(x, 0.0f, 6.0f);
  else if constexpr (kActivation == Activation::Gelu)
    return gelu(x);
  else if constexpr (kActivation == Activation::GeluTanh)
    return geluTanh(x);
  else if constexpr (kActivation == Activation::Silu)
    return silu(x);
  else if constexpr (kActivation == Activation::Sigmoid)
    return logistic(x);
  else if constexpr (kActivation == Activation::Tanh)
    return hyperbolicTangent(x);
  else if constexpr (kActivation == Activation::HardSwish)
    return x * hardSigmoid(x);
  else if constexpr (kActivation == Activation::HardSigmoid)
    return hardSigmoid(x);
  else
    return x;
}

} // namespace torchere::cpu::TORCHERE_ISA
