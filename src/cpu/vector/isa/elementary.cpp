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

/// To nearest even. Below 2^23 in magnitude an addition rounds; above, all are integers.
TORCHERE_INLINE F nearest(F x) {
  F rounder = withSign(splat(8388608.0f), x);
  F y = x + rounder - rounder;
  return withSign(absolute(x) < 8388608.0f ? y : x, x);
}

/// x^y in f64, as exp(y log x), for positive and finite x; the C library knows the other cases.
void powers(void *result, const void *a, const void *b, const void *, int64_t n) {
  constexpr int lanes = kLanesOf<double>;
  float *r = static_cast<float *>(result);
  const float *x = static_cast<const float *>(a), *y = static_cast<const float *>(b);
  for (int64_t i = 0; i < n; i += lanes) {
    int64_t count = n - i < lanes ? n - i : lanes;
    D base = splat(1.0), exponent = splat(1.0);
    bool plain = true;
    for (int64_t j = 0; j < count; ++j) {
      base[j] = x[i + j];
      exponent[j] = y[i + j];
      plain &= x[i + j] > 0 && x[i + j] <= 3.4e38f && y[i + j] - y[i + j] == 0;
    }
    float done[lanes];
    if (plain) {
      D value = exponential(exponent * logarithm(base));
      for (int64_t j = 0; j < count; ++j)
        done[j] = static_cast<float>(value[j]);
    } else {
      for (int64_t j = 0; j < count; ++j)
        done[j] = __builtin_powf(x[i + j], y[i + j]);
    }
    memcpy(r + i, done, count * sizeof(float));
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
  setFloats(table, Tanh, [](F x) { return hyperbolicTangent(x); });
  setFloats(table, Erf, [](F x) { return errorFunction(x); });
  setFloats(table, Erfc, [](F x) { return errorFunctionComplement(x); });
  setFloats(table, ErfInv, [](F x) { return inverseErrorFunction(x); });
  setFloats(table, Gelu, [](F x) { return gelu(x); });
  setFloats(table, GeluTanh, [](F x) { return geluTanh(x); });
  setFloats(table, Silu, [](F x) { return silu(x); });
  setFloats(table, Sqrt, [](F x) { return squareRoot(x); });
  setFloats(table, Rsqrt, [](F x) { return 1.0f / squareRoot(x); });
  setFloats(table, RoundNearestEven, [](F x) { return nearest(x); });
  setFloats(table, Floor, [](F x) {
    F y = nearest(x);
    return withSign(absolute(y > x ? y - 1.0f : y), x);
  });
  setFloats(table, Ceil, [](F x) {
    F y = nearest(x);
    return withSign(absolute(y < x ? y + 1.0f : y), x);
  });
  setFloats(table, RoundToBF16, [](F x) { return (F)(nearestBF16(x) << 16); });
  setFloats(table, RoundToF16, [](F x) {
    F16 half[kLanes];
    storeFloats(half, x);
    return loadFloats(half);
  });
  set1<float>(table, RoundNearestAfz, [](float x) { return roundAway(x); });
  set1<float>(table, Tan, [](float x) { return __builtin_tanf(x); });
  set1<float>(table, Cbrt, [](float x) { return __builtin_cbrtf(x); });
  setFloats2(table, Atan2, [](F y, F x) { return angle(y, x); });
  setFloats2(table, Remainder, [](F a, F b) { return remainderOf(a, b); });
  table.ops[static_cast<int>(Power)][kFloat] = &powers;
}

void addDoubles(Primitives &table) {
  using enum VectorOp;
  using T = double;
  setVectors<T>(table, Exponential, [](D x) { return exponential(x); });
  set1<T>(table, ExponentialMinusOne, [](T x) { return __builtin_expm1(x); });
  setVectors<T>(table, Log, [](D x) { return logarithm(x); });
  set1<T>(table, LogPlusOne, [](T x) { return __builtin_log1p(x); });
  setVectors<T>(table, Logistic, [](D x) { return logistic(x); });
  set1<T>(table, Sine, [](T x) { return __builtin_sin(x); });
  set1<T>(table, Cosine, [](T x) { return __builtin_cos(x); });
  set1<T>(table, Tan, [](T x) { return __builtin_tan(x); });
  set1<T>(table, Tanh, [](T x) { return __builtin_tanh(x); });
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
