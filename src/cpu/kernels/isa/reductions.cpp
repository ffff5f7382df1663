// Reductions along contiguous elements and across rows.
#include "cpu/kernels/isa/joins.h"
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class T> TORCHERE_INLINE Vec<Sum<T>> elements(const T *p) {
  if constexpr (kIsHalf<T>)
    return loadFloats(p);
  else
    return load(p);
}

constexpr int64_t kChunk = 64;

/// Eight rows of one column, of elements of four bytes.
constexpr int64_t kShortRows = 8;
constexpr int64_t kLongestShort = 256;
template <class T> using Column = typename VectorOf<T, kShortRows * 4>::Type;
template <class T> TORCHERE_INLINE Column<T> column(const T *x, int64_t rowStride) {
  return Column<T>{x[0],
                   x[rowStride],
                   x[2 * rowStride],
                   x[3 * rowStride],
                   x[4 * rowStride],
                   x[5 * rowStride],
                   x[6 * rowStride],
                   x[7 * rowStride]};
}

/// Rows too short for vectors along them: each in a lane, its elements joined in the order that `along` has.
/// How many rows were done.
template <class T, class Fn> int64_t alongInLanes(const ReduceJob &job) {
  Fn fn{};
  int64_t row = 0;
  for (; row + kShortRows <= job.rows; row += kShortRows) {
    const T *x = static_cast<const T *>(job.input) + row * job.rowStride;
    Column<T> sum = column(x, job.rowStride);
    for (int64_t i = 1; i < job.columns; ++i)
      sum = fn(sum, column(x + i * job.columnStride, job.rowStride));
    T *total = static_cast<T *>(job.output) + row;
    Column<T> before;
    memcpy(&before, total, sizeof(before));
    before = fn(before, sum);
    memcpy(total, &before, sizeof(before));
  }
  return row;
}

/// Eight vectors to one: each lane is what the lanes of one of them give.
template <class Fn, class V> TORCHERE_INLINE V foldRows(V (&x)[kShortRows]) {
  Fn fn{};
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2)
    x[i] = fn(__builtin_shufflevector(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14),
              __builtin_shufflevector(x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15));
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4)
    x[i] = fn(__builtin_shufflevector(x[i], x[i + 2], 0, 1, 8, 9, 4, 5, 12, 13),
              __builtin_shufflevector(x[i], x[i + 2], 2, 3, 10, 11, 6, 7, 14, 15));
  return fn(__builtin_shufflevector(x[0], x[4], 0, 1, 2, 3, 8, 9, 10, 11),
            __builtin_shufflevector(x[0], x[4], 4, 5, 6, 7, 12, 13, 14, 15));
}

/// Rows of a few vectors, which would take longer to fold than to join. Eight at a time, the last ones with
/// copies of the last, so that a row is joined in the same order wherever it is.
template <class T, class Fn> void alongInRows(const ReduceJob &job) {
  using Memory = typename VectorOf<T, kShortRows * 4>::Unaligned;
  Fn fn{};
  for (int64_t row = 0; row < job.rows; row += kShortRows) {
    int64_t count = job.rows - row < kShortRows ? job.rows - row : kShortRows;
    const T *x[kShortRows];
    Column<T> sums[kShortRows];
#pragma GCC unroll 8
    for (int64_t i = 0; i < kShortRows; ++i) {
      x[i] = static_cast<const T *>(job.input) + (row + (i < count ? i : count - 1)) * job.rowStride;
      sums[i] = *reinterpret_cast<const Memory *>(x[i]);
    }
    int64_t at = kShortRows;
    for (; at + kShortRows <= job.columns; at += kShortRows)
#pragma GCC unroll 8
      for (int64_t i = 0; i < kShortRows; ++i)
        sums[i] = fn(sums[i], Column<T>(*reinterpret_cast<const Memory *>(x[i] + at)));
    Column<T> sum = foldRows<Fn>(sums), before{};
    for (; at < job.columns; ++at)
      sum =
          fn(sum, Column<T>{x[0][at], x[1][at], x[2][at], x[3][at], x[4][at], x[5][at], x[6][at], x[7][at]});
    T *total = static_cast<T *>(job.output) + row;
    memcpy(&before, total, static_cast<size_t>(count) * sizeof(T));
    before = fn(before, sum);
    memcpy(total, &before, static_cast<size_t>(count) * sizeof(T));
  }
}

template <class T, class Fn> void along(const ReduceJob &job) {
  using S = Sum<T>;
  constexpr int64_t lanes = kLanesOf<S>;
  Fn fn{};
  int64_t first = 0;
  if constexpr (sizeof(T) == 4) {
    if (job.columnStride == 1 && job.columns >= kShortRows && job.columns <= kLongestShort)
      return alongInRows<T, Fn>(job);
    if (job.columns > 0 && job.columns < 4 * lanes)
      first = alongInLanes<T, Fn>(job);
  }
  for (int64_t row = first; row < job.rows; ++row) {
    const T *x = static_cast<const T *>(job.input) + row * job.rowStride;
    S total = static_cast<S *>(job.output)[row];
    int64_t n = job.columns, i = 0;
    // Chunks of vectors are summed on their own: the error does not grow with the row.
    while (job.columnStride == 1 && n - i >= 4 * lanes) {
      Vec<S> sums[4];
      for (int j = 0; j < 4; ++j)
        sums[j] = elements(x + i + j * lanes);
      int64_t groups = (n - i) / (4 * lanes) < kChunk ? (n - i) / (4 * lanes) : kChunk;
      for (int64_t g = 1; g < groups; ++g)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
          sums[j] = fn(sums[j], elements(x + i + (4 * g + j) * lanes));
      total = static_cast<S>(fn(total, foldLanes<S>(fn(fn(sums[0], sums[1]), fn(sums[2], sums[3])), fn)));
      i += groups * 4 * lanes;
    }
    for (; i < n; i += kChunk) {
      int64_t end = i + kChunk < n ? i + kChunk : n;
      S sum = element(x[i * job.columnStride]);
      for (int64_t j = i + 1; j < end; ++j)
        sum = static_cast<S>(fn(sum, element(x[j * job.columnStride])));
      total = static_cast<S>(fn(total, sum));
    }
    static_cast<S *>(job.output)[row] = total;
  }
}

template <class T, class Fn> void across(const ReduceJob &job);

/// Rows that lie one after the other and are shorter than four vectors: as many as fill whole vectors are one
/// row, whose columns are joined afterwards. How many rows were done.
template <class T, class Fn> int64_t acrossWide(const ReduceJob &job) {
  using S = Sum<T>;
  constexpr int64_t lanes = kLanesOf<S>, most = 4 * lanes;
  int64_t together = 1;
  while (together * job.columns % lanes != 0 || together * job.columns < most)
    together *= 2;
  int64_t width = together * job.columns, rows = job.rows / together;
  if (rows < 4)
    return 0;
  const T *x = static_cast<const T *>(job.input);
  S sums[most * lanes]; // which is more than `together` rows have
  for (int64_t i = 0; i < width; ++i)
    sums[i] = element(x[i]);
  across<T, Fn>({x + width, width, 1, rows - 1, width, sums});
  Fn fn{};
  S *output = static_cast<S *>(job.output);
  for (int64_t i = 0; i < width; ++i)
    output[i % job.columns] = static_cast<S>(fn(output[i % job.columns], sums[i]));
  return rows * together;
}

template <class T, class Fn> void across(const ReduceJob &job) {
  using S = Sum<T>;
  constexpr int64_t lanes = kLanesOf<S>;
  Fn fn{};
  if (job.columns < 4 * lanes && job.columns > 0 && job.rowStride == job.columns && job.rows >= 8)
    if (int64_t done = acrossWide<T, Fn>(job); done > 0) {
      ReduceJob rest = job;
      rest.input = static_cast<const T *>(job.input) + done * job.rowStride;
      rest.rows -= done;
      if (rest.rows > 0)
        across<T, Fn>(rest);
      return;
    }
  const T *x = static_cast<const T *>(job.input);
  S *output = static_cast<S *>(job.output);
  for (int64_t first = 0; first < job.rows; first += kChunk) {
    int64_t end = first + kChunk < job.rows ? first + kChunk : job.rows, column = 0;
    for (; column + 4 * lanes <= job.columns; column += 4 * lanes) {
      Vec<S> sums[4];
      for (int j = 0; j < 4; ++j)
        sums[j] = elements(x + first * job.rowStride + column + j * lanes);
      for (int64_t row = first + 1; row < end; ++row)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
          sums[j] = fn(sums[j], elements(x + row * job.rowStride + column + j * lanes));
      for (int j = 0; j < 4; ++j)
        store(output + column + j * lanes, fn(load(output + column + j * lanes), sums[j]));
    }
    for (; column + lanes <= job.columns; column += lanes) {
      Vec<S> sum = elements(x + first * job.rowStride + column);
      for (int64_t row = first + 1; row < end; ++row)
        sum = fn(sum, elements(x + row * job.rowStride + column));
      store(output + column, fn(load(output + column), sum));
    }
    for (; column < job.columns; ++column) {
      S sum = element(x[first * job.rowStride + column]);
      for (int64_t row = first + 1; row < end; ++row)
        sum = static_cast<S>(fn(sum, element(x[row * job.rowStride + column])));
      output[column] = static_cast<S>(fn(output[column], sum));
    }
  }
}

struct PutReductions {
  IsaKernels &table;
  template <class T, class Fn> void operator()(int type, int reduction, Fn) {
    table.reduceAlong[type][reduction] = &along<T, Fn>;
    table.reduceAcross[type][reduction] = &across<T, Fn>;
  }
};

} // namespace

void addReductions(IsaKernels &table) {
  JoinTable(PutReductions{table}).fill();
}

} // namespace torchere::cpu::TORCHERE_ISA
