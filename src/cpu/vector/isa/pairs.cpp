// Two ops of f32 in one pass, choices, and sums of products and squares: what lies between stays in
// registers.
#include "cpu/vector/isa/loops.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// Keeps the compiler from making a multiply-add of a product and what follows: results are those of the ops
/// one after the other.
TORCHERE_INLINE F rounded(F x) {
#if defined(__AVX512F__)
  asm("" : "+v"(x));
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  asm("" : "+x"(x));
#elif defined(TORCHERE_WIDE_VECTORS)
  asm("" : "+m"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#endif
  return x;
}

template <int kFirst> TORCHERE_INLINE F first(F a, F b) {
  if constexpr (kFirst == 0)
    return a + b;
  else if constexpr (kFirst == 1)
    return a - b;
  else
    return rounded(a * b);
}
template <int kSecond> TORCHERE_INLINE F second(F t, F c) {
  if constexpr (kSecond == kPairAdd)
    return t + c;
  else if constexpr (kSecond == kPairSubtract)
    return t - c;
  else if constexpr (kSecond == kPairSubtractFrom)
    return c - t;
  else if constexpr (kSecond == kPairMultiply)
    return t * c;
  else if constexpr (kSecond == kPairDivide)
    return t / c;
  else if constexpr (kSecond == kPairDivideInto)
    return c / t;
  else if constexpr (kSecond == kPairSquare)
    return t * t;
  else if constexpr (kSecond == kPairRoundToBF16)
    return (F)(nearestBF16(t) << 16);
  F16 half[kLanes];
  storeFloats(half, t);
  return loadFloats(half);
}
/// Whether it reads c.
constexpr bool readsThird(int second) {
  return second < kPairSquare;
}

/// A row's elements: all of them, or one that stands for all.
template <bool kOne> struct Row {
  explicit Row(const void *data) : at(static_cast<const float *>(data)), one(kOne ? splat(*at) : F{}) {}
  TORCHERE_INLINE F operator()(int64_t i) const { return kOne ? one : load(at + i); }
  TORCHERE_INLINE F part(int64_t i, int64_t n) const { return kOne ? one : loadPart(at + i, n); }

  const float *at;
  F one;
};

const char *rowOf(const TileRowsJob &job, int operand, int64_t row) {
  return static_cast<const char *>(job.operands[operand]) + row * job.strides[operand];
}

template <int kFirst, int kSecond, bool A, bool B, bool C> void pairRows(const TileRowsJob &job) {
  float *r = static_cast<float *>(job.result);
  const int64_t rows = job.rows, columns = job.columns;
  for (int64_t row = 0; row < rows; ++row, r += columns) {
    Row<A> a(rowOf(job, 0, row));
    Row<B> b(rowOf(job, 1, row));
    Row<C> c(rowOf(job, readsThird(kSecond) ? 2 : 0, row));
    int64_t i = 0;
#pragma GCC unroll 2
    for (; i + kLanes <= columns; i += kLanes)
      store(r + i, second<kSecond>(first<kFirst>(a(i), b(i)), c(i)));
    if (int64_t n = columns - i; n > 0)
      storePart(r + i, second<kSecond>(first<kFirst>(a.part(i, n), b.part(i, n)), c.part(i, n)), n);
  }
}

template <int kFirst, int kSecond, bool C> void pairOf(const TileRowsJob &job) {
  if (job.isOne[0])
    pairRows<kFirst, kSecond, true, false, C>(job);
  else if (job.isOne[1])
    pairRows<kFirst, kSecond, false, true, C>(job);
  else
    pairRows<kFirst, kSecond, false, false, C>(job);
}
template <int kFirst, int kSecond> void pair(const TileRowsJob &job) {
  if (readsThird(kSecond) && job.isOne[2])
    pairOf<kFirst, kSecond, readsThird(kSecond)>(job);
  else
    pairOf<kFirst, kSecond, false>(job);
}

/// `Compare` is of vectors. Of its operands the first is a tile.
template <class Compare, bool B, bool C, bool D> void chooseRows(const TileRowsJob &job) {
  Compare compare{};
  float *r = static_cast<float *>(job.result);
  const int64_t rows = job.rows, columns = job.columns;
  for (int64_t row = 0; row < rows; ++row, r += columns) {
    Row<false> a(rowOf(job, 0, row));
    Row<B> b(rowOf(job, 1, row));
    Row<C> c(rowOf(job, 2, row));
    Row<D> d(rowOf(job, 3, row));
    int64_t i = 0;
#pragma GCC unroll 2
    for (; i + kLanes <= columns; i += kLanes)
      store(r + i, compare(a(i), b(i)) ? c(i) : d(i));
    if (int64_t n = columns - i; n > 0)
      storePart(r + i, compare(a.part(i, n), b.part(i, n)) ? c.part(i, n) : d.part(i, n), n);
  }
}
template <class Compare, bool B> void chooseBy(const TileRowsJob &job) {
  if (job.isOne[2])
    job.isOne[3] ? chooseRows<Compare, B, true, true>(job) : chooseRows<Compare, B, true, false>(job);
  else
    job.isOne[3] ? chooseRows<Compare, B, false, true>(job) : chooseRows<Compare, B, false, false>(job);
}
template <class Compare> void choose(const TileRowsJob &job) {
  job.isOne[1] ? chooseBy<Compare, true>(job) : chooseBy<Compare, false>(job);
}
void addChoices(Primitives &table) {
  auto set = [&](VectorOp op, auto fn) { table.choices[comparisonNumber(op)] = &choose<decltype(fn)>; };
  set(VectorOp::Equal, [](auto a, auto b) { return a == b; });
  set(VectorOp::NotEqual, [](auto a, auto b) { return a != b; });
  set(VectorOp::Less, [](auto a, auto b) { return a < b; });
  set(VectorOp::LessEqual, [](auto a, auto b) { return a <= b; });
  set(VectorOp::Greater, [](auto a, auto b) { return a > b; });
  set(VectorOp::GreaterEqual, [](auto a, auto b) { return a >= b; });
}

template <int kSummed> TORCHERE_INLINE F term(F a, F b) {
  if constexpr (kSummed == kSumOfProducts)
    return a * b;
  else if constexpr (kSummed == kSumOfSquares)
    return a * a;
  else
    return (a - b) * (a - b);
}

template <int kRun = kLanes / 2> TORCHERE_INLINE float sumOfLanes(F v) {
  using All = typename LanesBelow<kLanes>::Type;
  v = runsOf<kRun, 0>(v, v, All()) + runsOf<kRun, kRun>(v, v, All());
  if constexpr (kRun > 1)
    return sumOfLanes<kRun / 2>(v);
  else
    return v[0];
}

/// Rows of at most a tile, so that a few sums of each lane are exact enough.
template <int kSummed, bool A, bool B> void sumAlong(const TileRowsJob &job) {
  auto *total = static_cast<float *>(job.result);
  const int64_t rows = job.rows, columns = job.columns;
  for (int64_t row = 0; row < rows; ++row) {
    Row<A> a(rowOf(job, 0, row));
    Row<B> b(rowOf(job, kSummed == kSumOfSquares ? 0 : 1, row));
    F sums[4] = {};
    int64_t i = 0;
    for (; i + 4 * kLanes <= columns; i += 4 * kLanes)
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j)
        sums[j] += term<kSummed>(a(i + j * kLanes), b(i + j * kLanes));
    for (; i + kLanes <= columns; i += kLanes)
      sums[0] += term<kSummed>(a(i), b(i));
    float sum = sumOfLanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; i < columns; ++i)
      sum += term<kSummed>(splat(a.at[A ? 0 : i]), splat(b.at[B ? 0 : i]))[0];
    total[row] += sum;
  }
}

template <int kSummed, bool A, bool B> void sumAcross(const TileRowsJob &job) {
  auto *total = static_cast<float *>(job.result);
  const int64_t rows = job.rows, columns = job.columns;
  constexpr int kTogether = 4;
  int64_t i = 0;
  for (; i + kTogether * kLanes <= columns; i += kTogether * kLanes) {
    F sums[kTogether] = {};
    for (int64_t row = 0; row < rows; ++row) {
      Row<A> a(rowOf(job, 0, row));
      Row<B> b(rowOf(job, kSummed == kSumOfSquares ? 0 : 1, row));
#pragma GCC unroll 4
      for (int j = 0; j < kTogether; ++j)
        sums[j] += term<kSummed>(a(i + j * kLanes), b(i + j * kLanes));
    }
#pragma GCC unroll 4
    for (int j = 0; j < kTogether; ++j)
      store(total + i + j * kLanes, load(total + i + j * kLanes) + sums[j]);
  }
  for (; i < columns; i += kLanes) {
    int64_t n = columns - i < kLanes ? columns - i : kLanes;
    F sum{};
    for (int64_t row = 0; row < rows; ++row) {
      Row<A> a(rowOf(job, 0, row));
      Row<B> b(rowOf(job, kSummed == kSumOfSquares ? 0 : 1, row));
      sum += term<kSummed>(a.part(i, n), b.part(i, n));
    }
    storePart(total + i, loadPart(total + i, n) + sum, n);
  }
}

/// Squares read one operand, whose forms are those of both.
template <int kSummed, bool kIsAcross> void sum(const TileRowsJob &job) {
  constexpr bool isSquare = kSummed == kSumOfSquares;
  if (job.isOne[0])
    kIsAcross ? sumAcross<kSummed, true, isSquare>(job) : sumAlong<kSummed, true, isSquare>(job);
  else if (!isSquare && job.isOne[1])
    kIsAcross ? sumAcross<kSummed, false, !isSquare>(job) : sumAlong<kSummed, false, !isSquare>(job);
  else
    kIsAcross ? sumAcross<kSummed, false, false>(job) : sumAlong<kSummed, false, false>(job);
}

template <int kFirst> void addSeconds(Primitives &table) {
  auto &row = table.pairs[kFirst];
  row[kPairAdd] = &pair<kFirst, kPairAdd>;
  row[kPairSubtract] = &pair<kFirst, kPairSubtract>;
  row[kPairSubtractFrom] = &pair<kFirst, kPairSubtractFrom>;
  row[kPairMultiply] = &pair<kFirst, kPairMultiply>;
  row[kPairDivide] = &pair<kFirst, kPairDivide>;
  row[kPairDivideInto] = &pair<kFirst, kPairDivideInto>;
  row[kPairSquare] = &pair<kFirst, kPairSquare>;
  row[kPairRoundToF16] = &pair<kFirst, kPairRoundToF16>;
  row[kPairRoundToBF16] = &pair<kFirst, kPairRoundToBF16>;
}
template <int kSummed> void addSum(Primitives &table) {
  table.sumsAlong[kSummed] = &sum<kSummed, false>;
  table.sumsAcross[kSummed] = &sum<kSummed, true>;
}

} // namespace

void addPairs(Primitives &table) {
  addSeconds<0>(table);
  addSeconds<1>(table);
  addSeconds<2>(table);
  addChoices(table);
  addSum<kSumOfProducts>(table);
  addSum<kSumOfSquares>(table);
  addSum<kSumOfSquaredDifferences>(table);
}

} // namespace torchere::cpu::TORCHERE_ISA
