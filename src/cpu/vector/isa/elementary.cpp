// Primitives of the elementary functions: vectors for f32 and the commonest of f64, the C library's for
// others.
#include "cpu/kernels/isa/double_math.h"
#include "cpu/vector/isa/loops.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// To the nearest integer, halves away from zero.
template <class T> TORCHERE_INLINE T roundAway(T x) {
  return sizeof(T) == 4 ? T(__builtin_roundf(x)) : T(__builtin_round(x));
}

enum class Rounding : int { NearestEven, Down, Up }; ///< as instructions number them

/// To an integer, with the sign of x.
template <Rounding kRounding> TORCHERE_INLINE F rounded(F x) {
  [[maybe_unused]] constexpr int mode = static_cast<int>(kRounding);
#if defined(__AVX512F__)
  return (F)_mm512_roundscale_ps((__m512)x, mode | _MM_FROUND_NO_EXC);
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  return (F)_mm256_round_ps((__m256)x, mode | _MM_FROUND_NO_EXC);
#else
  // Below 2^23 in magnitude an addition rounds; above, all are integers.
  F rounder = withSign(splat(8388608.0f), x);
  F nearest = absolute(x) < 8388608.0f ? x + rounder - rounder : x;
  if constexpr (kRounding == Rounding::Down)
    nearest = nearest > x ? nearest - 1.0f : nearest;
  else if constexpr (kRounding == Rounding::Up)
    nearest = nearest < x ? nearest + 1.0f : nearest;
  return withSign(absolute(nearest), x);
#endif
}

typedef float HalfVector __attribute__((vector_size(kVectorBytes / 2), aligned(4), may_alias));

/// To the nearest integer, where that is below 2^52; larger ones are integers.
TORCHERE_INLINE D nearest(D x) {
  D magnitude = x < 0.0 ? -x : x;
  return magnitude < 0x1p51 ? x + kDoubleRounder - kDoubleRounder : x;
}

/// |x|^y of x that is neither zero nor infinite, and finite y, with the sign of an odd power, NaN of a power
/// that is no integer.
TORCHERE_INLINE D powerOf(D x, D y) {
  D value = exponential(y * logarithm(x < 0.0 ? -x : x)), half = y * 0.5;
  D ofNegative = nearest(half) != half ? -value : value;
  ofNegative = nearest(y) != y ? splat(__builtin_nan("")) : ofNegative;
  return x < 0.0 ? ofNegative : value;
}

bool areTwos(const float *x, int64_t n) {
  if (n < kLanes || x[0] != 2.0f) // as a rule one element tells
    return false;
  I others = load(x + n - kLanes) != 2.0f;
  for (int64_t i = 0; i + kLanes <= n; i += kLanes)
    others |= load(x + i) != 2.0f;
  bool any = false;
  for (int i = 0; i < kLanes; ++i)
    any |= others[i] != 0;
  return !any;
}

/// In f64, rounded once; the C library knows zeros, infinities and NaN.
void powers(void *result, const void *a, const void *b, const void *, int64_t n) {
  constexpr int lanes = kLanesOf<double>;
  float *r = static_cast<float *>(result);
  const float *x = static_cast<const float *>(a), *y = static_cast<const float *>(b);
  if (areTwos(x, n)) {
    auto ofTwo = [](F exponent) { return powerOfTwo(exponent); };
    mapVectors<float, decltype(ofTwo)>(result, b, nullptr, nullptr, n);
    return;
  }
  for (int64_t i = 0; i < n; i += lanes) {
    int64_t count = n - i < lanes ? n - i : lanes;
    float part[2][lanes] = {};
    if (count < lanes) {
      for (int64_t j = 0; j < lanes; ++j) {
        part[0][j] = j < count ? x[i + j] : 1.0f;
        part[1][j] = j < count ? y[i + j] : 1.0f;
      }
    }
    D base =
        __builtin_convertvector(*reinterpret_cast<const HalfVector *>(count < lanes ? part[0] : x + i), D);
    D exponent =
        __builtin_convertvector(*reinterpret_cast<const HalfVector *>(count < lanes ? part[1] : y + i), D);
    D magnitude = base < 0.0 ? -base : base;
    if (holdsInAll((magnitude > 0.0) & (magnitude <= 3.4e38) & (exponent - exponent == 0.0))) {
      HalfVector done = __builtin_convertvector(powerOf(base, exponent), HalfVector);
      memcpy(r + i, &done, count * sizeof(float));
    } else {
      for (int64_t j = 0; j < count; ++j)
        part[0][j] = __builtin_powf(x[i + j], y[i + j]);
      memcpy(r + i, part[0], count * sizeof(float));
    }
  }
}

void addFloats(Primitives &table) {
  using enum VectorOp;
  setFloats(table, Exponential, [](F x) { return exponential(x); });
  setFloats(table, ExponentialMinusOne, [](F x) { return exponentialMinusOne(x); });
  setFloats(table, Log, [](F x) { return logarithm(x); });
  setFloats(table, LogPlusOne, [](F x) { return logarithmPlusOne(x); });
  setFloats(table, Logistic, [](F x) { return logistic(x); });
  setFloats(table, Sine, [](F x) { return sine(x); });
  setFloats(table, Cosine, [](F x) { return cosine(x); });
  setFloats(table, Tan, [](F x) { return tangent(x); });
  setFloats(table, Tanh, [](F x) { return hyperbolicTangent(x); });
  setFloats(table, Erf, [](F x) { return errorFunction(x); });
  setFloats(table, Erfc, [](F x) { return errorFunctionComplement(x); });
  setFloats(table, ErfInv, [](F x) { return inverseErrorFunction(x); });
  setFloats(table, Gelu, [](F x) { return gelu(x); });
  setFloats(table, GeluTanh, [](F x) { return geluTanh(x); });
  setFloats(table, Silu, [](F x) { return silu(x); });
  setFloats(table, Sqrt, [](F x) { return squareRoot(x); });
  setFloats(table, Rsqrt, [](F x) { return 1.0f / squareRoot(x); });
  setFloats(table, RoundNearestEven, [](F x) { return rounded<Rounding::NearestEven>(x); });
  setFloats(table, Floor, [](F x) { return rounded<Rounding::Down>(x); });
  setFloats(table, Ceil, [](F x) { return rounded<Rounding::Up>(x); });
  setFloats(table, RoundToBF16, [](F x) { return (F)(nearestBF16(x) << 16); });
  setFloats(table, RoundToF16, [](F x) {
    F16 half[kLanes];
    storeFloats(half, x);
    return loadFloats(half);
  });
  set1<float>(table, RoundNearestAfz, [](float x) { return roundAway(x); });
  set1<float>(table, Cbrt, [](float x) { return __builtin_cbrtf(x); });
  setFloats2(table, Atan2, [](F y, F x) { return angle(y, x); });
  setFloats2(table, Remainder, [](F a, F b) { return remainderOf(a, b); });
  table.ops[static_cast<int>(Power)][kFloat] = &powers;
}

void addDoubles(Primitives &table) {
  using enum VectorOp;
  using T = double;
  setVectors<T>(table, Exponential, [](D x) { return exponential(x); });
  setVectors<T>(table, ExponentialMinusOne, [](D x) { return exponentialMinusOne(x); });
  setVectors<T>(table, Log, [](D x) { return logarithm(x); });
  set1<T>(table, LogPlusOne, [](T x) { return __builtin_log1p(x); });
  setVectors<T>(table, Logistic, [](D x) { return logistic(x); });
  setVectors<T>(table, Sine, [](D x) { return circular<false>(x); });
  setVectors<T>(table, Cosine, [](D x) { return circular<true>(x); });
  setVectors<T>(table, Tan, [](D x) { return tangent(x); });
  setVectors<T>(table, Tanh, [](D x) { return hyperbolicTangent(x); });
  set1<T>(table, Erf, [](T x) { return __builtin_erf(x); });
  set1<T>(table, Erfc, [](T x) { return __builtin_erfc(x); });
  set1<T>(table, Gelu, [](T x) { return 0.5 * x * (1 + __builtin_erf(x * 0.70710678118654752440)); });
  set1<T>(table, GeluTanh, [](T x) {
    return 0.5 * x * (1 + __builtin_tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  });
  setVectors<T>(table, Silu, [](D x) { return x / (1.0 + exponential(-x)); });
  set1<T>(table, Sqrt, [](T x) { return __builtin_sqrt(x); });
  set1<T>(table, Rsqrt, [](T x) { return 1 / __builtin_sqrt(x); });
  set1<T>(table, Cbrt, [](T x) { return __builtin_cbrt(x); });
  set1<T>(table, RoundNearestEven, [](T x) { return __builtin_rint(x); });
  set1<T>(table, RoundNearestAfz, [](T x) { return roundAway(x); });
  set1<T>(table, Floor, [](T x) { return __builtin_floor(x); });
  set1<T>(table, Ceil, [](T x) { return __builtin_ceil(x); });
  set2<T>(table, Atan2, [](T y, T x) { return __builtin_atan2(y, x); });
  set2<T>(table, Remainder, [](T a, T b) { return __builtin_fmod(a, b); });
  set2<T>(table, Power, [](T a, T b) { return __builtin_pow(a, b); });
}

} // namespace

void addElementary(Primitives &table) {
  addFloats(table);
  addDoubles(table);
}

} // namespace torchere::cpu::TORCHERE_ISA
