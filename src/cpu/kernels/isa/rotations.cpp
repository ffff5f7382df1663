// What reductions to a few diagonals need beside products of rank one: products of rows with a vector, and
// sweeps of rotations.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class T> TORCHERE_INLINE T sumOfEven(Vec<T> v) {
  T sum = 0;
  for (int i = 0; i < kLanesOf<T>; i += 2)
    sum += v[i];
  return sum;
}
template <class T> TORCHERE_INLINE T sumOfOdd(Vec<T> v) {
  T sum = 0;
  for (int i = 1; i < kLanesOf<T>; i += 2)
    sum += v[i];
  return sum;
}
template <class T> TORCHERE_INLINE Vec<T> withPartsSwapped(Vec<T> v) {
  decltype(v < v) places; // integers of that size
  for (int i = 0; i < kLanesOf<T>; ++i)
    places[i] = i ^ 1;
  return __builtin_shuffle(v, places);
}

/// kRows rows. Of complex numbers the products with the parts of x as they lie, and swapped.
template <class T, int kParts, int kRows>
TORCHERE_INLINE void multiplyRows(const RowProductsJob &job, int64_t row) {
  constexpr int lanes = kLanesOf<T>;
  const T *a = static_cast<const T *>(job.a) + row * job.stride * kParts, *x = static_cast<const T *>(job.x);
  T *y = static_cast<T *>(job.y) + row * kParts;
  const int64_t stride = job.stride * kParts, size = job.columns * kParts;
  Vec<T> straight[kRows] = {}, crossed[kRows] = {};
  int64_t column = 0;
  for (; column + lanes <= size; column += lanes) {
    Vec<T> v = load(x + column), swapped = kParts == 2 ? withPartsSwapped<T>(v) : v;
    for (int i = 0; i < kRows; ++i) {
      Vec<T> w = load(a + i * stride + column);
      straight[i] += w * v;
      if constexpr (kParts == 2)
        crossed[i] += w * swapped;
    }
  }
  for (int i = 0; i < kRows; ++i) {
    const T *from = a + i * stride;
    if constexpr (kParts == 1) {
      T sum = sumOfEven<T>(straight[i]) + sumOfOdd<T>(straight[i]);
      for (int64_t j = column; j < size; ++j)
        sum += from[j] * x[j];
      y[i] = sum;
    } else {
      T real = sumOfEven<T>(straight[i]) - sumOfOdd<T>(straight[i]);
      T imaginary = sumOfEven<T>(crossed[i]) + sumOfOdd<T>(crossed[i]);
      for (int64_t j = column; j < size; j += 2) {
        real += from[j] * x[j] - from[j + 1] * x[j + 1];
        imaginary += from[j] * x[j + 1] + from[j + 1] * x[j];
      }
      y[2 * i] = real;
      y[2 * i + 1] = imaginary;
    }
  }
}

template <class T, int kParts> void rowProducts(const RowProductsJob &job) {
  int64_t row = 0;
  for (; row + 4 <= job.rows; row += 4)
    multiplyRows<T, kParts, 4>(job, row);
  for (; row < job.rows; ++row)
    multiplyRows<T, kParts, 1>(job, row);
}

/// All sweeps on kVectors vectors of columns. The row that two rotations share stays in registers.
template <class T, int kVectors> TORCHERE_INLINE void rotateColumns(const RotationsJob &job, int64_t column) {
  constexpr int lanes = kLanesOf<T>;
  for (int64_t i = 0; i < job.sweepCount; ++i) {
    const RotationSweep &sweep = job.sweeps[i];
    const double *rotation = job.rotations + 2 * sweep.place;
    T *row = static_cast<T *>(job.rows) + sweep.first * job.stride + column;
    const int64_t next = sweep.step * job.stride;
    Vec<T> a[kVectors];
    for (int j = 0; j < kVectors; ++j)
      a[j] = load(row + j * lanes);
    for (int64_t k = 0; k < sweep.count; ++k, row += next, rotation += 2) {
      const T c = static_cast<T>(rotation[0]), s = static_cast<T>(rotation[1]);
      for (int j = 0; j < kVectors; ++j) {
        Vec<T> b = load(row + next + j * lanes);
        store(row + j * lanes, Vec<T>(c * a[j] + s * b));
        a[j] = c * b - s * a[j];
      }
    }
    for (int j = 0; j < kVectors; ++j)
      store(row + j * lanes, a[j]);
  }
}

template <class T> void rotateRows(const RotationsJob &job) {
  constexpr int64_t lanes = kLanesOf<T>;
  int64_t column = 0;
  for (; column + 4 * lanes <= job.columns; column += 4 * lanes)
    rotateColumns<T, 4>(job, column);
  for (; column < job.columns; column += lanes)
    rotateColumns<T, 1>(job, column);
}

} // namespace

void addRotations(IsaKernels &table) {
  table.rowProducts[0] = &rowProducts<float, 1>;
  table.rowProducts[1] = &rowProducts<double, 1>;
  table.rowProducts[2] = &rowProducts<float, 2>;
  table.rowProducts[3] = &rowProducts<double, 2>;
  table.rotateRows[0] = &rotateRows<float>;
  table.rotateRows[1] = &rotateRows<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
