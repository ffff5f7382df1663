// Small matrices, one in each lane of a vector: LU factors, and systems with a triangular matrix.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// Integers of an element's size, as comparisons give them.
template <class T> using Places = decltype(Vec<T>{} < Vec<T>{});

template <class T> TORCHERE_INLINE Vec<T> sizesOf(Vec<T> v) {
  return v < 0 ? -v : v;
}
template <class T> TORCHERE_INLINE Places<T> placesOf(int64_t place) {
  return Places<T>{} + static_cast<decltype(Places<T>{}[0] + 0)>(place);
}
template <class T> TORCHERE_INLINE Places<T> loadPlaces(const void *from, int64_t index) {
  Places<T> v;
  memcpy(&v, static_cast<const char *>(from) + index * static_cast<int64_t>(sizeof(v)), sizeof(v));
  return v;
}
template <class T> TORCHERE_INLINE void storePlaces(void *to, int64_t index, Places<T> v) {
  memcpy(static_cast<char *>(to) + index * static_cast<int64_t>(sizeof(v)), &v, sizeof(v));
}

/// Each lane's row with the greatest element of the column, from `step` on: the first of equals, and `step`
/// where one is NaN.
template <class T>
TORCHERE_INLINE Places<T> pivotRows(const T *column, int64_t rowStride, int64_t step, int64_t rows) {
  const Places<T> first = placesOf<T>(step);
  Places<T> best = first, hasNan{};
  Vec<T> most = Vec<T>{} - 1;
  for (int64_t row = step; row < rows; ++row) {
    Vec<T> size = sizesOf<T>(load(column + row * rowStride));
    Places<T> isGreater = size > most;
    hasNan |= size != size;
    best = isGreater ? placesOf<T>(row) : best;
    most = isGreater ? size : most;
  }
  return hasNan ? first : best;
}

/// Rows `first` and `second` change places in the lanes of the mask.
template <class T> TORCHERE_INLINE void exchangeRows(T *first, T *second, int64_t columns, Places<T> mask) {
  for (int64_t j = 0; j < columns; ++j) {
    Vec<T> x = load(first + j * kLanesOf<T>), y = load(second + j * kLanesOf<T>);
    store(first + j * kLanesOf<T>, Vec<T>(mask ? y : x));
    store(second + j * kLanesOf<T>, Vec<T>(mask ? x : y));
  }
}

/// What lies below and right of the pivot; nothing in lanes whose pivot is zero, where zeros stand below it.
template <class T> TORCHERE_INLINE void eliminateColumn(const LuLanesJob &job, T *matrix, int64_t step) {
  constexpr int lanes = kLanesOf<T>;
  const int64_t rowStride = job.columns * lanes;
  const T *top = matrix + step * rowStride;
  Vec<T> pivot = load(top + step * lanes);
  Places<T> isZero = pivot == 0, firstZero = loadPlaces<T>(job.firstZero, 0);
  storePlaces<T>(job.firstZero, 0, (isZero & (firstZero == 0)) ? placesOf<T>(step + 1) : firstZero);
  Vec<T> divisor = isZero ? Vec<T>{} + 1 : pivot;
  for (int64_t row = step + 1; row < job.rows; ++row) {
    T *at = matrix + row * rowStride;
    Vec<T> x = load(at + step * lanes) / divisor;
    store(at + step * lanes, x);
    for (int64_t j = step + 1; j < job.columns; ++j) {
      Vec<T> before = load(at + j * lanes), after = before - x * load(top + j * lanes);
      store(at + j * lanes, Vec<T>(isZero ? before : after));
    }
  }
}

template <class T> void factorizeLanes(const LuLanesJob &job) {
  constexpr int lanes = kLanesOf<T>;
  T *matrix = static_cast<T *>(job.matrices);
  const int64_t rowStride = job.columns * lanes, steps = job.rows < job.columns ? job.rows : job.columns;
  storePlaces<T>(job.firstZero, 0, Places<T>{});
  for (int64_t row = 0; row < job.rows; ++row)
    storePlaces<T>(job.permutation, row, placesOf<T>(row));
  for (int64_t step = 0; step < steps; ++step) {
    Places<T> pivots = pivotRows<T>(matrix + step * lanes, rowStride, step, job.rows);
    storePlaces<T>(job.pivots, step, pivots);
    for (int64_t row = step + 1; row < job.rows; ++row) {
      Places<T> mask = pivots == placesOf<T>(row);
      exchangeRows<T>(matrix + step * rowStride, matrix + row * rowStride, job.columns, mask);
      Places<T> x = loadPlaces<T>(job.permutation, step), y = loadPlaces<T>(job.permutation, row);
      storePlaces<T>(job.permutation, step, mask ? y : x);
      storePlaces<T>(job.permutation, row, mask ? x : y);
    }
    eliminateColumn<T>(job, matrix, step);
  }
}

template <class T> void solveLanes(const SolveLanesJob &job) {
  constexpr int lanes = kLanesOf<T>;
  const T *a = static_cast<const T *>(job.a);
  for (int64_t i = 0; i < job.size; ++i) {
    const T *row = a + i * job.aRowStride * lanes;
    for (int64_t j = 0; j < job.columns; ++j) {
      T *column = static_cast<T *>(job.x) + j * job.xColumnStride * lanes;
      Vec<T> sum = load(column + i * job.xRowStride * lanes);
      for (int64_t k = 0; k < i; ++k)
        sum -= load(row + k * job.aColumnStride * lanes) * load(column + k * job.xRowStride * lanes);
      if (!job.isUnit)
        sum /= load(row + i * job.aColumnStride * lanes);
      store(column + i * job.xRowStride * lanes, sum);
    }
  }
}

} // namespace

void addSmallSystems(IsaKernels &table) {
  table.factorizeLanes[0] = &factorizeLanes<float>;
  table.factorizeLanes[1] = &factorizeLanes<double>;
  table.solveLanes[0] = &solveLanes<float>;
  table.solveLanes[1] = &solveLanes<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
