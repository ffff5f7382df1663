// Primitives of arithmetic, comparison, bits, selection and reduction, for every type.
#include "cpu/vector/isa/loops.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class T> constexpr bool kIsFloat = false;
template <> constexpr bool kIsFloat<float> = true;
template <> constexpr bool kIsFloat<double> = true;
template <class T> constexpr int kBits = sizeof(T) * 8;

/// Of elements and vectors: NaN wins.
constexpr auto kMaximum = [](auto a, auto b) { return a != a ? a : a > b ? a : b; };
constexpr auto kMinimum = [](auto a, auto b) { return a != a ? a : a < b ? a : b; };
constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kMultiply = [](auto a, auto b) { return a * b; };

template <class T> TORCHERE_INLINE T power(T base, T exponent) {
  if constexpr (kIsSigned<T>) {
    if (exponent < 0)
      return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  }
  // At least 32 bits wide: narrower types would be promoted to int, which overflows.
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto rest = static_cast<Unsigned<T>>(exponent); rest; rest = static_cast<Unsigned<T>>(rest >> 1)) {
    if (rest & 1)
      result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

template <class T> void addOrder(Primitives &table) {
  using enum VectorOp;
  setCompare<T>(table, Equal, [](T a, T b) { return a == b; });
  setCompare<T>(table, NotEqual, [](T a, T b) { return a != b; });
  setCompare<T>(table, Less, [](T a, T b) { return a < b; });
  setCompare<T>(table, LessEqual, [](T a, T b) { return a <= b; });
  setCompare<T>(table, Greater, [](T a, T b) { return a > b; });
  setCompare<T>(table, GreaterEqual, [](T a, T b) { return a >= b; });
}

/// Of the predicate's type and the values': a table by the values' type.
template <class T> void select(void *result, const void *predicate, const void *a, const void *b, int64_t n) {
  const uint8_t *p = static_cast<const uint8_t *>(predicate);
  const T *x = static_cast<const T *>(a), *y = static_cast<const T *>(b);
  T *r = static_cast<T *>(result);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    r[i] = p[i] ? x[i] : y[i];
}

/// Of elements chosen by bytes.
template <class T, bool A, bool B> void selectOf(const TileRowsJob &job) {
  T *r = static_cast<T *>(job.result);
  const int64_t rows = job.rows, columns = job.columns;
  for (int64_t row = 0; row < rows; ++row, r += columns) {
    ElementsOf<uint8_t, false> p(job, 0, row);
    ElementsOf<T, A> x(job, 1, row);
    ElementsOf<T, B> y(job, 2, row);
#pragma GCC ivdep
    for (int64_t i = 0; i < columns; ++i)
      r[i] = p(i) ? x(i) : y(i);
  }
}
template <class T> void selectRows(const TileRowsJob &job) {
  if (job.isOne[1] && job.isOne[2])
    selectOf<T, true, true>(job);
  else if (job.isOne[1])
    selectOf<T, true, false>(job);
  else if (job.isOne[2])
    selectOf<T, false, true>(job);
  else
    selectOf<T, false, false>(job);
}

template <class T> void setSelect(Primitives &table, int type) {
  table.ops[static_cast<int>(VectorOp::Select)][type] = &select<T>;
  if constexpr (kHasRows<T>)
    table.rows[static_cast<int>(VectorOp::Select)][type] = &selectRows<T>;
  table.scalars[static_cast<int>(VectorOp::Select)][type] = &scalarSelect<T>;
}

template <class T> void addInteger(Primitives &table) {
  using enum VectorOp;
  using W = Unsigned<T>;
  addOrder<T>(table);
  set2<T>(table, Add, [](T a, T b) { return W(W(a) + W(b)); });
  set2<T>(table, Subtract, [](T a, T b) { return W(W(a) - W(b)); });
  set2<T>(table, Multiply, [](T a, T b) { return W(1u * W(a) * W(b)); });
  set2<T>(table, Divide, [](T a, T b) { return integerQuotient<T>(a, b); });
  set2<T>(table, Remainder, [](T a, T b) { return integerRemainder<T>(a, b); });
  set2<T>(table, Power, [](T a, T b) { return power<T>(a, b); });
  set2<T>(table, Maximum, [](T a, T b) { return a > b ? a : b; });
  set2<T>(table, Minimum, [](T a, T b) { return a < b ? a : b; });
  set2<T>(table, And, [](T a, T b) { return a & b; });
  set2<T>(table, Or, [](T a, T b) { return a | b; });
  set2<T>(table, Xor, [](T a, T b) { return a ^ b; });
  set2<T>(table, ShiftLeft, [](T a, T b) { return W(b) < kBits<T> ? W(W(a) << W(b)) : W(0); });
  set2<T>(table, ShiftRightLogical, [](T a, T b) { return W(b) < kBits<T> ? W(W(a) >> W(b)) : W(0); });
  set2<T>(table, ShiftRightArithmetic,
          [](T a, T b) { return T(a >> (W(b) < kBits<T> ? int(b) : kBits<T> - 1)); });
  if constexpr (!kIsSigned<T>)
    set2<T>(table, ShiftRightArithmetic, [](T a, T b) { // the top bit is a sign all the same
      int count = b < T(kBits<T>) ? int(b) : kBits<T> - 1;
      T top = T(a >> (kBits<T> - 1)) & 1;
      return T(T(a >> count) | (top && count ? T(T(~T(0)) << (kBits<T> - count)) : T(0)));
    });
  set1<T>(table, Negate, [](T a) { return W(W(0) - W(a)); });
  set1<T>(table, Abs, [](T a) { return kIsSigned<T> && a < T(0) ? W(W(0) - W(a)) : W(a); });
  set1<T>(table, Sign, [](T a) { return kIsSigned<T> && a < T(0) ? T(-1) : T(a != T(0)); });
  set1<T>(table, Not, [](T a) { return ~a; });
  set1<T>(table, PopulationCount, [](T a) { return __builtin_popcountll(W(a)); });
  set1<T>(table, CountLeadingZeros,
          [](T a) { return a == T(0) ? kBits<T> : __builtin_clzll(W(a)) - (64 - kBits<T>); });
  set3<T>(table, Clamp, [](T low, T x, T high) {
    T above = x < low ? low : x;
    return above > high ? high : above;
  });
  setSelect<T>(table, kPrimitiveOf<T>);
  // Sums of unsigned elements wrap to the same bits.
  setFold<W>(table, ReduceSum, kAdd, kPrimitiveOf<T>);
  setFold<W>(table, ReduceProduct, kMultiply, kPrimitiveOf<T>);
  setFold<T>(table, ReduceMaximum, [](auto a, auto b) { return a > b ? a : b; });
  setFold<T>(table, ReduceMinimum, [](auto a, auto b) { return a < b ? a : b; });
}

template <class T> TORCHERE_INLINE Unsigned<T> bitsOf(T x) {
  return __builtin_bit_cast(Unsigned<T>, x);
}
template <class T> TORCHERE_INLINE T ofBits(Unsigned<T> bits) {
  return __builtin_bit_cast(T, bits);
}

/// NaN wins, and of zeros of both signs the negative one. The instruction gives the second number for both:
/// the bits that either order has.
template <class T> TORCHERE_INLINE T minimum(T a, T b) {
  T first = a < b ? a : b, second = b < a ? b : a;
  return ofBits<T>(bitsOf(first) | bitsOf(second));
}
/// NaN wins, and of zeros the positive one.
template <class T> TORCHERE_INLINE T maximum(T a, T b) {
  T first = a > b ? a : b, second = b > a ? b : a;
  T any = ofBits<T>(bitsOf(first) | bitsOf(second)); // NaN if one is
  return any != any ? any : ofBits<T>(bitsOf(first) & bitsOf(second));
}

/// Whether the bound is a number, and no zero that loses to the other one's sign: one instruction then gives
/// the result, or the sum with `zeroOf()` of it.
TORCHERE_INLINE bool isPlainBound(float bound, bool isUpper) {
  return bound == bound && !(isUpper && bitsOf(bound) == bitsOf(-0.0f));
}
/// What is added to a maximum with the bound: of zeros of both signs, a sum is positive.
TORCHERE_INLINE float zeroOf(float bound) {
  return bitsOf(bound) == 0 ? 0.0f : -0.0f;
}

template <bool kIsMaximum> void boundRows(const TileRowsJob &job, int operand) {
  float *r = static_cast<float *>(job.result);
  const int64_t rows = job.rows, columns = job.columns;
  for (int64_t row = 0; row < rows; ++row, r += columns) {
    ElementsOf<float, false> x(job, operand, row);
    const float bound = ElementsOf<float, true>(job, 1 - operand, row).one, zero = zeroOf(bound);
    if (!isPlainBound(bound, !kIsMaximum)) {
      for (int64_t i = 0; i < columns; ++i)
        r[i] = kIsMaximum ? maximum(x(i), bound) : minimum(x(i), bound);
    } else if (kIsMaximum) {
#pragma GCC ivdep
      for (int64_t i = 0; i < columns; ++i)
        r[i] = (bound > x(i) ? bound : x(i)) + zero;
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < columns; ++i)
        r[i] = bound < x(i) ? bound : x(i);
    }
  }
}
template <bool kIsMaximum> void boundRows(const TileRowsJob &job) {
  constexpr auto fn = [](float a, float b) { return kIsMaximum ? maximum(a, b) : minimum(a, b); };
  if (job.isOne[0] || job.isOne[1])
    boundRows<kIsMaximum>(job, job.isOne[0] ? 1 : 0);
  else
    rows2<float, float, decltype(fn)>(job);
}

constexpr auto kClamp = [](auto low, auto x, auto high) { return kMinimum(kMaximum(x, low), high); };

void clampRows(const TileRowsJob &job) {
  if (!job.isOne[0] || !job.isOne[2])
    return rows3<float, decltype(kClamp)>(job);
  float *r = static_cast<float *>(job.result);
  const int64_t rows = job.rows, columns = job.columns;
  for (int64_t row = 0; row < rows; ++row, r += columns) {
    ElementsOf<float, false> x(job, 1, row);
    const float low = ElementsOf<float, true>(job, 0, row).one,
                high = ElementsOf<float, true>(job, 2, row).one;
    const float zero = zeroOf(low);
    if (!isPlainBound(low, false) || !isPlainBound(high, true)) {
      for (int64_t i = 0; i < columns; ++i)
        r[i] = kClamp(low, x(i), high);
      continue;
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < columns; ++i) {
      float above = (low > x(i) ? low : x(i)) + zero;
      r[i] = high < above ? high : above;
    }
  }
}

template <class T> void addFloat(Primitives &table) {
  using enum VectorOp;
  addOrder<T>(table);
  set2<T>(table, Add, [](T a, T b) { return a + b; });
  set2<T>(table, Subtract, [](T a, T b) { return a - b; });
  set2<T>(table, Multiply, [](T a, T b) { return a * b; });
  set2<T>(table, Divide, [](T a, T b) { return a / b; });
  set2<T>(table, Maximum, [](T a, T b) { return maximum(a, b); });
  set2<T>(table, Minimum, [](T a, T b) { return minimum(a, b); });
  set1<T>(table, Negate, [](T a) { return -a; });
  set1<T>(table, Abs, [](T a) { return sizeof(T) == 4 ? __builtin_fabsf(a) : __builtin_fabs(a); });
  set1<T>(table, Sign, [](T a) { return a > T(0) ? T(1) : a < T(0) ? T(-1) : a; });
  setAs1<T, uint8_t>(table, IsFinite, [](T a) { return a - a == T(0); });
  set3<T>(table, Clamp, kClamp);
  if constexpr (sizeof(T) == 4) {
    table.rows[static_cast<int>(Maximum)][kFloat] = &boundRows<true>;
    table.rows[static_cast<int>(Minimum)][kFloat] = &boundRows<false>;
    table.rows[static_cast<int>(Clamp)][kFloat] = &clampRows;
  }
  setSelect<T>(table, kPrimitiveOf<T>);
  setFold<T>(table, ReduceSum, kAdd);
  setFold<T>(table, ReduceProduct, kMultiply);
  setFold<T>(table, ReduceMaximum, kMaximum);
  setFold<T>(table, ReduceMinimum, kMinimum);
}

/// Bytes of 0 and 1.
void addBool(Primitives &table) {
  using enum VectorOp;
  using B = uint8_t;
  auto put2 = [&](VectorOp op, auto fn) { setAs2<B, B>(table, op, fn, kBool); };
  auto putCompare = [&](VectorOp op, auto fn) { setCompare<B>(table, op, fn, kBool); };
  put2(Add, [](B a, B b) { return a | b; });
  put2(Multiply, [](B a, B b) { return a & b; });
  put2(Maximum, [](B a, B b) { return a | b; });
  put2(Minimum, [](B a, B b) { return a & b; });
  put2(And, [](B a, B b) { return a & b; });
  put2(Or, [](B a, B b) { return a | b; });
  put2(Xor, [](B a, B b) { return a ^ b; });
  putCompare(Equal, [](B a, B b) { return a == b; });
  putCompare(NotEqual, [](B a, B b) { return a != b; });
  putCompare(Less, [](B a, B b) { return a < b; });
  putCompare(LessEqual, [](B a, B b) { return a <= b; });
  putCompare(Greater, [](B a, B b) { return a > b; });
  putCompare(GreaterEqual, [](B a, B b) { return a >= b; });
  setAs1<B, B>(table, Not, [](B a) { return a ^ 1; }, kBool);
  setSelect<B>(table, kBool);
  constexpr auto any = [](auto a, auto b) { return a | b; };
  constexpr auto all = [](auto a, auto b) { return a & b; };
  setFold<B>(table, ReduceSum, any, kBool);
  setFold<B>(table, ReduceMaximum, any, kBool);
  setFold<B>(table, ReduceProduct, all, kBool);
  setFold<B>(table, ReduceMinimum, all, kBool);
}

} // namespace

void addArithmetic(Primitives &table) {
  addBool(table);
  addInteger<int8_t>(table);
  addInteger<int16_t>(table);
  addInteger<int32_t>(table);
  addInteger<int64_t>(table);
  addInteger<uint8_t>(table);
  addInteger<uint16_t>(table);
  addInteger<uint32_t>(table);
  addInteger<uint64_t>(table);
  addFloat<float>(table);
  addFloat<double>(table);
}

} // namespace torchere::cpu::TORCHERE_ISA
