// Quotients and remainders of integers in vectors, which have no instruction for them: in f64, where that is
// exact.
#include "cpu/kernels/isa/double_math.h"
#include "cpu/vector/isa/loops.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int64_t kWideLanes = kLanesOf<double>;
typedef Vec<int64_t> L;
/// As many elements of 32 bits as a vector has of f64.
typedef int32_t HalfI __attribute__((vector_size(kVectorBytes / 2), aligned(4), may_alias));

constexpr int64_t kExact = int64_t(1) << 51; ///< the sum with kDoubleRounder has what is less in its low bits

/// Vectors of an integer type, as f64. `areExact()`: whether all lanes are.
template <class T> struct Wide;
template <> struct Wide<int64_t> {
  static TORCHERE_INLINE L load(const int64_t *p) { return TORCHERE_ISA::load(p); }
  static TORCHERE_INLINE L areExact(L x) { return (x < kExact) & (x >= -kExact); }
  static TORCHERE_INLINE D toDouble(L x) { return (D)(x + (L)splat(kDoubleRounder)) - kDoubleRounder; }
  static TORCHERE_INLINE L toInteger(D x) { return (L)(x + kDoubleRounder) - (L)splat(kDoubleRounder); }
  static TORCHERE_INLINE void store(int64_t *p, D x) { TORCHERE_ISA::store(p, toInteger(x)); }
};
template <> struct Wide<int32_t> {
  static TORCHERE_INLINE L load(const int32_t *p) {
    return __builtin_convertvector(*reinterpret_cast<const HalfI *>(p), L);
  }
  static TORCHERE_INLINE L areExact(L) { return L{} == 0; }
  static TORCHERE_INLINE D toDouble(L x) { return Wide<int64_t>::toDouble(x); }
  static TORCHERE_INLINE void store(int32_t *p, D x) {
    *reinterpret_cast<HalfI *>(p) = __builtin_convertvector(Wide<int64_t>::toInteger(x), HalfI);
  }
};

/// Towards zero, of numbers of less than kExact, of which y is not zero. The quotient's error is less than
/// its distance from the next integer, so that the nearest one's remainder is that of one of both neighbours.
template <bool kIsRemainder> TORCHERE_INLINE D divided(D x, D y) {
  D nearest = x / y + kDoubleRounder - kDoubleRounder, rest = x - nearest * y;
  D size = y < 0.0 ? -y : y, one = y < 0.0 ? splat(-1.0) : splat(1.0);
  L isBelow = (x >= 0.0) & (rest < 0.0), isAbove = (x < 0.0) & (rest > 0.0);
  if constexpr (kIsRemainder)
    return isBelow ? rest + size : isAbove ? rest - size : rest;
  else
    return isBelow ? nearest - one : isAbove ? nearest + one : nearest;
}

/// `one` is of an element; it takes what vectors do not: zeros, and numbers that are not exact in f64.
template <class T, bool kIsRemainder, class One>
void divideAll(void *result, const void *a, const void *b, const void *, int64_t n) {
  One one{};
  T *r = static_cast<T *>(result);
  const T *x = static_cast<const T *>(a), *y = static_cast<const T *>(b);
  int64_t i = 0;
  for (; i + kWideLanes <= n; i += kWideLanes) {
    L left = Wide<T>::load(x + i), right = Wide<T>::load(y + i);
    if (holdsInAll(Wide<T>::areExact(left) & Wide<T>::areExact(right) & (right != 0) & (right != -1)))
      Wide<T>::store(r + i, divided<kIsRemainder>(Wide<T>::toDouble(left), Wide<T>::toDouble(right)));
    else
      for (int64_t j = i; j < i + kWideLanes; ++j)
        r[j] = one(x[j], y[j]);
  }
  for (; i < n; ++i)
    r[i] = one(x[i], y[i]);
}

template <class T> void add(Primitives &table) {
  constexpr auto quotient = [](T a, T b) { return integerQuotient<T>(a, b); };
  constexpr auto remainder = [](T a, T b) { return integerRemainder<T>(a, b); };
  constexpr int type = kPrimitiveOf<T>;
  table.ops[static_cast<int>(VectorOp::Divide)][type] = &divideAll<T, false, decltype(quotient)>;
  table.ops[static_cast<int>(VectorOp::Remainder)][type] = &divideAll<T, true, decltype(remainder)>;
  // Forms on rows divide an element at a time.
  table.rows[static_cast<int>(VectorOp::Divide)][type] = nullptr;
  table.rows[static_cast<int>(VectorOp::Remainder)][type] = nullptr;
}

} // namespace

void addDivisions(Primitives &table) {
  add<int32_t>(table);
  add<int64_t>(table);
}

} // namespace torchere::cpu::TORCHERE_ISA
