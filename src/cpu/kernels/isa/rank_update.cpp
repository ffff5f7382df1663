// Products that are taken off a matrix where it lies, as factorizations and substitutions do; and the
// factorization of a panel, by such products of one column and one row.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// kRows rows by two vectors of C.
template <class T, int kRows>
TORCHERE_INLINE void tile(const RankUpdateJob &job, int64_t row, int64_t column) {
  constexpr int lanes = kLanesOf<T>;
  T *c = static_cast<T *>(job.c) + row * job.cStride + column;
  const T *a = static_cast<const T *>(job.a) + row * job.aRowStride;
  const T *b = static_cast<const T *>(job.b) + column;
  // Summed on their own first, so that the error does not grow with the updates of an element.
  Vec<T> sums[kRows][2] = {};
  for (int64_t k = 0; k < job.depth; ++k) {
    Vec<T> left = load(b + k * job.bStride), right = load(b + k * job.bStride + lanes);
    for (int i = 0; i < kRows; ++i) {
      T x = a[i * job.aRowStride + k * job.aStride];
      sums[i][0] += x * left;
      sums[i][1] += x * right;
    }
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < 2; ++j) {
      T *to = c + i * job.cStride + j * lanes;
      store(to, load(to) - sums[i][j]);
    }
}

template <class T> void rankUpdate(const RankUpdateJob &job) {
  constexpr int64_t width = 2 * kLanesOf<T>;
  int64_t whole = job.columns / width * width;
  for (int64_t column = 0; column < whole; column += width) {
    int64_t row = 0;
    for (; row + 4 <= job.rows; row += 4)
      tile<T, 4>(job, row, column);
    for (; row < job.rows; ++row)
      tile<T, 1>(job, row, column);
  }
  for (int64_t row = 0; row < job.rows; ++row) {
    T *c = static_cast<T *>(job.c) + row * job.cStride;
    const T *a = static_cast<const T *>(job.a) + row * job.aRowStride, *b = static_cast<const T *>(job.b);
    for (int64_t column = whole; column < job.columns; ++column) {
      T sum = 0;
      for (int64_t k = 0; k < job.depth; ++k)
        sum += a[k * job.aStride] * b[k * job.bStride + column];
      c[column] -= sum;
    }
  }
}

// Numbers of one part, or of two: complex ones lie as pairs.

/// Pairs with their parts swapped.
template <class T> TORCHERE_INLINE Vec<T> swappedParts(Vec<T> v) {
  decltype(v < v) places; // integers of that size
  for (int i = 0; i < kLanesOf<T>; ++i)
    places[i] = i ^ 1;
  return __builtin_shuffle(v, places);
}

/// row -= x * other, of so many numbers.
template <class T, int kParts>
TORCHERE_INLINE void subtractMultiple(T *row, const T *x, const T *other, int64_t count) {
  constexpr int lanes = kLanesOf<T>;
  int64_t size = count * kParts, i = 0;
  Vec<T> factor = splat(x[0]), crossed{};
  if constexpr (kParts == 2)
    for (int lane = 0; lane < lanes; ++lane)
      crossed[lane] = lane % 2 == 0 ? -x[1] : x[1];
  for (; i + lanes <= size; i += lanes) {
    Vec<T> v = load(other + i), product = factor * v;
    if constexpr (kParts == 2)
      product += crossed * swappedParts<T>(v);
    store(row + i, load(row + i) - product);
  }
  for (; i < size; i += kParts) {
    if constexpr (kParts == 1) {
      row[i] -= x[0] * other[i];
    } else {
      row[i] -= x[0] * other[i] - x[1] * other[i + 1];
      row[i + 1] -= x[0] * other[i + 1] + x[1] * other[i];
    }
  }
}

/// C -= A B of complex numbers, row by row. A's are conjugated on demand.
template <class T> void rankUpdatePairs(const RankUpdateJob &job) {
  for (int64_t row = 0; row < job.rows; ++row) {
    T *c = static_cast<T *>(job.c) + 2 * row * job.cStride;
    const T *a = static_cast<const T *>(job.a) + 2 * row * job.aRowStride;
    for (int64_t k = 0; k < job.depth; ++k) {
      const T *from = a + 2 * k * job.aStride;
      T x[2] = {from[0], job.isConjugate ? -from[1] : from[1]};
      subtractMultiple<T, 2>(c, x, static_cast<const T *>(job.b) + 2 * k * job.bStride, job.columns);
    }
  }
}

template <class T> TORCHERE_INLINE T sizeOf(T x) {
  return x < 0 ? -x : x;
}
/// What pivots are compared by.
template <class T, int kParts> TORCHERE_INLINE T pivotSize(const T *x) {
  return kParts == 1 ? sizeOf(x[0]) : sizeOf(x[0]) + sizeOf(x[1]);
}

/// x / y, with y's larger part taken out, so that no square is out of range.
template <class T, int kParts> TORCHERE_INLINE void divide(T *x, const T *y) {
  if constexpr (kParts == 1) {
    x[0] /= y[0];
  } else {
    bool isSwapped = sizeOf(y[0]) < sizeOf(y[1]);
    T large = isSwapped ? y[1] : y[0], small = isSwapped ? y[0] : y[1];
    T ratio = small / large, divisor = large + small * ratio;
    T real = x[0], imaginary = x[1];
    if (isSwapped) {
      x[0] = (real * ratio + imaginary) / divisor;
      x[1] = (imaginary * ratio - real) / divisor;
    } else {
      x[0] = (real + imaginary * ratio) / divisor;
      x[1] = (imaginary - real * ratio) / divisor;
    }
  }
}

/// The row at or below `step` with the greatest element of the column, the first of equals; `step` where one
/// is NaN.
template <class T, int kParts> int64_t pivotRow(const LuPanelJob &job, const T *column, int64_t step) {
  int64_t best = step;
  T most = -1;
  bool hasNan = false;
  for (int64_t row = step; row < job.rows; ++row) {
    T size = pivotSize<T, kParts>(column + row * job.stride * kParts);
    hasNan |= size != size;
    best = size > most ? row : best;
    most = size > most ? size : most;
  }
  return hasNan ? step : best;
}

template <class T> TORCHERE_INLINE void swapRows(T *first, T *second, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T x = first[i];
    first[i] = second[i];
    second[i] = x;
  }
}

/// Rows change places in all columns of the matrix, of which the panel's alone are eliminated.
template <class T, int kParts> void factorizePanel(const LuPanelJob &job) {
  T *matrix = static_cast<T *>(job.matrix);
  int64_t stride = job.stride * kParts;
  for (int64_t step = job.begin; step < job.end; ++step) {
    T *column = matrix + step * kParts, *top = matrix + step * stride;
    int64_t pivot = pivotRow<T, kParts>(job, column, step);
    job.pivots[step] = static_cast<int32_t>(pivot);
    if (pivot != step)
      swapRows(top, matrix + pivot * stride, job.columns * kParts);
    const T *divisor = column + step * stride;
    if (divisor[0] == 0 && divisor[kParts - 1] == 0) {
      if (*job.firstZero == 0)
        *job.firstZero = static_cast<int32_t>(step + 1);
      continue; // there are zeros below it
    }
    int64_t rest = job.end - step - 1;
    for (int64_t row = step + 1; row < job.rows; ++row) {
      T *x = column + row * stride;
      divide<T, kParts>(x, divisor);
      subtractMultiple<T, kParts>(x + kParts, x, top + (step + 1) * kParts, rest);
    }
  }
}

} // namespace

void addRankUpdate(IsaKernels &table) {
  table.rankUpdate[0] = &rankUpdate<float>;
  table.rankUpdate[1] = &rankUpdate<double>;
  table.rankUpdate[2] = &rankUpdatePairs<float>;
  table.rankUpdate[3] = &rankUpdatePairs<double>;
  table.factorizePanel[0] = &factorizePanel<float, 1>;
  table.factorizePanel[1] = &factorizePanel<double, 1>;
  table.factorizePanel[2] = &factorizePanel<float, 2>;
  table.factorizePanel[3] = &factorizePanel<double, 2>;
}

} // namespace torchere::cpu::TORCHERE_ISA
