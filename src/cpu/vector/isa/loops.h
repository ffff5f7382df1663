// The loops of primitives over functions of an element or of a vector.
#pragma once

#include "cpu/kernels/isa/math.h"
#include "cpu/kernels/isa/unsigned.h"
#include "cpu/vector/isa_primitives.h"
#include "cpu/vector/op.h"

namespace torchere::cpu::TORCHERE_ISA {

// Functions of elements: the compiler makes them loops of vectors. An element's result never depends on
// another's.
template <class T, class R, class Fn>
void map1(void *result, const void *a, const void *, const void *, int64_t n) {
  Fn fn{};
  R *r = static_cast<R *>(result);
  const T *x = static_cast<const T *>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    r[i] = static_cast<R>(fn(x[i]));
}
template <class T, class R, class Fn>
void map2(void *result, const void *a, const void *b, const void *, int64_t n) {
  Fn fn{};
  R *r = static_cast<R *>(result);
  const T *x = static_cast<const T *>(a), *y = static_cast<const T *>(b);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    r[i] = static_cast<R>(fn(x[i], y[i]));
}
template <class T, class Fn> void map3(void *result, const void *a, const void *b, const void *c, int64_t n) {
  Fn fn{};
  T *r = static_cast<T *>(result);
  const T *x = static_cast<const T *>(a), *y = static_cast<const T *>(b), *z = static_cast<const T *>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    r[i] = fn(x[i], y[i], z[i]);
}

/// An operand's row: all of its elements, or one that stands for all.
template <class T, bool kOne> struct ElementsOf {
  const T *at;
  T one;
  ElementsOf(const TileRowsJob &job, int operand, int64_t row)
      : at(reinterpret_cast<const T *>(static_cast<const char *>(job.operands[operand]) +
                                       row * job.strides[operand])),
        one(*at) {}
  TORCHERE_INLINE T operator()(int64_t i) const { return kOne ? one : at[i]; }
};
template <class T, class R, class Fn, bool A, bool B> void rowsOf2(const TileRowsJob &job) {
  Fn fn{};
  R *r = static_cast<R *>(job.result);
  const int64_t rows = job.rows, columns = job.columns; // bytes of the result might be these
  for (int64_t row = 0; row < rows; ++row, r += columns) {
    ElementsOf<T, A> x(job, 0, row);
    ElementsOf<T, B> y(job, 1, row);
#pragma GCC ivdep
    for (int64_t i = 0; i < columns; ++i)
      r[i] = static_cast<R>(fn(x(i), y(i)));
  }
}
template <class T, class R, class Fn> void rows2(const TileRowsJob &job) {
  if (job.isOne[0])
    rowsOf2<T, R, Fn, true, false>(job);
  else if (job.isOne[1])
    rowsOf2<T, R, Fn, false, true>(job);
  else
    rowsOf2<T, R, Fn, false, false>(job);
}
/// Between bounds that are tiles, or one element a row.
template <class T, class Fn, bool A, bool C> void rowsOf3(const TileRowsJob &job) {
  Fn fn{};
  T *r = static_cast<T *>(job.result);
  for (int64_t row = 0; row < job.rows; ++row, r += job.columns) {
    ElementsOf<T, A> low(job, 0, row);
    ElementsOf<T, false> x(job, 1, row);
    ElementsOf<T, C> high(job, 2, row);
#pragma GCC ivdep
    for (int64_t i = 0; i < job.columns; ++i)
      r[i] = fn(low(i), x(i), high(i));
  }
}
template <class T, class Fn> void rows3(const TileRowsJob &job) {
  if (job.isOne[0])
    job.isOne[2] ? rowsOf3<T, Fn, true, true>(job) : rowsOf3<T, Fn, true, false>(job);
  else
    job.isOne[2] ? rowsOf3<T, Fn, false, true>(job) : rowsOf3<T, Fn, false, false>(job);
}
/// Of types whose ops have a form on rows.
template <class T> constexpr bool kHasRows = false;
template <> constexpr bool kHasRows<float> = true;
template <> constexpr bool kHasRows<int32_t> = true;

// The same for one element, in programs of scalars.
template <class T> TORCHERE_INLINE T valueAt(const char *place) {
  T value;
  __builtin_memcpy(&value, place, sizeof(T));
  return value;
}
template <class R> TORCHERE_INLINE void putAt(char *place, R value) {
  __builtin_memcpy(place, &value, sizeof(R));
}
template <class T, class R, class Fn>
const ScalarInstruction *scalar1(const ScalarInstruction *at, char *r, ScalarRun &run) {
  Fn fn{};
  putAt(r + at->result, static_cast<R>(fn(valueAt<T>(r + at->operands[0]))));
  return runNext(at, r, run);
}
template <class T, class R, class Fn>
const ScalarInstruction *scalar2(const ScalarInstruction *at, char *r, ScalarRun &run) {
  Fn fn{};
  T x = valueAt<T>(r + at->operands[0]), y = valueAt<T>(r + at->operands[1]);
  putAt(r + at->result, static_cast<R>(fn(x, y)));
  return runNext(at, r, run);
}
template <class T, class Fn>
const ScalarInstruction *scalar3(const ScalarInstruction *at, char *r, ScalarRun &run) {
  Fn fn{};
  T x = valueAt<T>(r + at->operands[0]), y = valueAt<T>(r + at->operands[1]),
    z = valueAt<T>(r + at->operands[2]);
  putAt(r + at->result, static_cast<T>(fn(x, y, z)));
  return runNext(at, r, run);
}
template <class T>
const ScalarInstruction *scalarSelect(const ScalarInstruction *at, char *r, ScalarRun &run) {
  T x = valueAt<T>(r + at->operands[1]), y = valueAt<T>(r + at->operands[2]);
  putAt(r + at->result, r[at->operands[0]] ? x : y);
  return runNext(at, r, run);
}
template <class T, class Fn, bool JumpsIf>
const ScalarInstruction *compareAndJump(const ScalarInstruction *at, char *r, ScalarRun &run) {
  Fn fn{};
  bool holds = fn(valueAt<T>(r + at->operands[0]), valueAt<T>(r + at->operands[1]));
  r[at->result] = holds;
  return holds == JumpsIf ? at[1].target : runNext(at + 1, r, run);
}

// Functions of vectors.
template <class T, class Fn>
void mapVectors(void *result, const void *a, const void *, const void *, int64_t n) {
  Fn fn{};
  T *r = static_cast<T *>(result);
  const T *x = static_cast<const T *>(a);
  constexpr int lanes = kLanesOf<T>;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    store(r + i, fn(load(x + i)));
  if (i < n)
    storePart(r + i, fn(loadPart(x + i, n - i)), n - i);
}
template <class T, class Fn>
const ScalarInstruction *scalarVectors(const ScalarInstruction *at, char *r, ScalarRun &run) {
  Fn fn{};
  if (at->count == 1) // as always: without it gcc 12 warns of lanes that its own headers leave open
    putAt(r + at->result, fn(splat(valueAt<T>(r + at->operands[0])))[0]);
  return runNext(at, r, run);
}
template <class Fn> void mapFloats2(void *result, const void *a, const void *b, const void *, int64_t n) {
  Fn fn{};
  float *r = static_cast<float *>(result);
  const float *x = static_cast<const float *>(a), *y = static_cast<const float *>(b);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(r + i, fn(load(x + i), load(y + i)));
  if (i < n)
    storePart(r + i, fn(loadPart(x + i, n - i), loadPart(y + i, n - i)), n - i);
}
template <class Fn>
const ScalarInstruction *scalarFloats2(const ScalarInstruction *at, char *r, ScalarRun &run) {
  Fn fn{};
  F x = splat(valueAt<float>(r + at->operands[0])), y = splat(valueAt<float>(r + at->operands[1]));
  if (at->count == 1) // as above
    putAt(r + at->result, fn(x, y)[0]);
  return runNext(at, r, run);
}

/// Joins x to the one element of the result: in four vectors, then pairwise. Chunks keep a sum's error small.
template <class T, class Fn> void fold(void *result, const void *a, const void *, const void *, int64_t n) {
  Fn fn{};
  T &total = *static_cast<T *>(result);
  const T *x = static_cast<const T *>(a);
  constexpr int64_t lanes = kLanesOf<T>;
  int64_t i = 0;
  if (n >= 4 * lanes) {
    Vec<T> sums[4];
    for (int j = 0; j < 4; ++j)
      sums[j] = load(x + j * lanes);
    for (i = 4 * lanes; i + 4 * lanes <= n; i += 4 * lanes)
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j)
        sums[j] = fn(sums[j], load(x + i + j * lanes));
    total = fn(total, foldLanes<T>(fn(fn(sums[0], sums[1]), fn(sums[2], sums[3])), fn));
  } else if (n >= lanes) {
    Vec<T> sums = load(x);
    for (i = lanes; i + lanes <= n; i += lanes)
      sums = fn(sums, load(x + i));
    total = fn(total, foldLanes<T>(sums, fn));
  }
  for (; i < n; ++i)
    total = fn(total, x[i]);
}

template <class T, class Fn>
void foldRows(void *result, const void *initial, const void *a, int64_t rows, int64_t columns) {
  Fn fn{};
  T *r = static_cast<T *>(result);
  const T *x = static_cast<const T *>(a), first = *static_cast<const T *>(initial);
  for (int64_t row = 0; row < rows; ++row, x += columns) {
    T total = first;
    if (columns >= kLanesOf<T>)
      fold<T, Fn>(&total, x, nullptr, nullptr, columns);
    else
      for (int64_t i = 0; i < columns; ++i)
        total = fn(total, x[i]);
    r[row] = total;
  }
}

template <class T> constexpr int kPrimitiveOf = -1;
template <> constexpr int kPrimitiveOf<bool> = kBool;
template <> constexpr int kPrimitiveOf<int8_t> = kI8;
template <> constexpr int kPrimitiveOf<int16_t> = kI16;
template <> constexpr int kPrimitiveOf<int32_t> = kI32;
template <> constexpr int kPrimitiveOf<int64_t> = kI64;
template <> constexpr int kPrimitiveOf<uint8_t> = kU8;
template <> constexpr int kPrimitiveOf<uint16_t> = kU16;
template <> constexpr int kPrimitiveOf<uint32_t> = kU32;
template <> constexpr int kPrimitiveOf<uint64_t> = kU64;
template <> constexpr int kPrimitiveOf<float> = kFloat;
template <> constexpr int kPrimitiveOf<double> = kDouble;

template <class T, class R, class Fn>
void setAs1(Primitives &table, VectorOp op, Fn, int type = kPrimitiveOf<T>) {
  table.ops[static_cast<int>(op)][type] = &map1<T, R, Fn>;
  table.scalars[static_cast<int>(op)][type] = &scalar1<T, R, Fn>;
}
template <class T, class R, class Fn>
void setAs2(Primitives &table, VectorOp op, Fn, int type = kPrimitiveOf<T>) {
  table.ops[static_cast<int>(op)][type] = &map2<T, R, Fn>;
  if constexpr (kHasRows<T>)
    table.rows[static_cast<int>(op)][type] = &rows2<T, R, Fn>;
  table.scalars[static_cast<int>(op)][type] = &scalar2<T, R, Fn>;
}
template <class T, class Fn> void set1(Primitives &table, VectorOp op, Fn fn) {
  setAs1<T, T>(table, op, fn);
}
template <class T, class Fn> void set2(Primitives &table, VectorOp op, Fn fn) {
  setAs2<T, T>(table, op, fn);
}
template <class T, class Fn> void set3(Primitives &table, VectorOp op, Fn) {
  table.ops[static_cast<int>(op)][kPrimitiveOf<T>] = &map3<T, Fn>;
  if constexpr (kHasRows<T>)
    table.rows[static_cast<int>(op)][kPrimitiveOf<T>] = &rows3<T, Fn>;
  table.scalars[static_cast<int>(op)][kPrimitiveOf<T>] = &scalar3<T, Fn>;
}
template <class T, class Fn>
void setCompare(Primitives &table, VectorOp op, Fn fn, int type = kPrimitiveOf<T>) {
  setAs2<T, uint8_t>(table, op, fn, type);
  int comparison = comparisonNumber(op);
  table.branches[0][comparison][type] = &compareAndJump<T, Fn, true>;
  table.branches[1][comparison][type] = &compareAndJump<T, Fn, false>;
}
template <class T, class Fn> void setVectors(Primitives &table, VectorOp op, Fn) {
  table.ops[static_cast<int>(op)][kPrimitiveOf<T>] = &mapVectors<T, Fn>;
  table.scalars[static_cast<int>(op)][kPrimitiveOf<T>] = &scalarVectors<T, Fn>;
}
template <class Fn> void setFloats(Primitives &table, VectorOp op, Fn fn) {
  setVectors<float>(table, op, fn);
}
template <class Fn> void setFloats2(Primitives &table, VectorOp op, Fn) {
  table.ops[static_cast<int>(op)][kFloat] = &mapFloats2<Fn>;
  table.scalars[static_cast<int>(op)][kFloat] = &scalarFloats2<Fn>;
}
/// As elements of type `T`, of a type as large.
template <class T, class Fn> void setFold(Primitives &table, VectorOp op, Fn, int type = kPrimitiveOf<T>) {
  table.ops[static_cast<int>(op)][type] = &fold<T, Fn>;
  table.rowFolds[static_cast<int>(op)][type] = &foldRows<T, Fn>;
}

template <class T> constexpr bool kIsSigned = T(-1) < T(0);

/// As StableHLO has them: of zero -1 and the dividend.
template <class T> TORCHERE_INLINE T integerQuotient(T a, T b) {
  if constexpr (kIsSigned<T>) {
    if (b == -1)
      return static_cast<T>(-static_cast<Unsigned<T>>(a));
  }
  return b == 0 ? static_cast<T>(-1) : static_cast<T>(a / b);
}
template <class T> TORCHERE_INLINE T integerRemainder(T a, T b) {
  if constexpr (kIsSigned<T>) {
    if (b == -1)
      return 0;
  }
  return b == 0 ? a : static_cast<T>(a % b);
}

void addArithmetic(Primitives &table);
void addDivisions(Primitives &table); ///< in place of addArithmetic()'s
void addElementary(Primitives &table);
void addProducts(Primitives &table);
void addConversions(Primitives &table);
void addRandom(Primitives &table);
void addPairs(Primitives &table);

} // namespace torchere::cpu::TORCHERE_ISA
