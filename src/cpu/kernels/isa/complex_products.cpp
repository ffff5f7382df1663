// Products of complex numbers that lie as pairs, for a panel of the right factor's columns.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// Pairs with their parts swapped, and the sign of the first one changed: times i.
template <class T> TORCHERE_INLINE Vec<T> timesUnit(Vec<T> v) {
  decltype(v < v) places; // integers of that size
  Vec<T> signs;
  for (int i = 0; i < kLanesOf<T>; ++i) {
    places[i] = i ^ 1;
    signs[i] = i % 2 == 0 ? T(-1) : T(1);
  }
  return __builtin_shuffle(v, places) * signs;
}

/// kRows rows of the panel's two vectors. What the imaginary parts of A add is summed by itself: its pairs
/// are swapped once, at the end.
template <class T, int kRows> TORCHERE_INLINE void multiplyRows(const ComplexPanelJob &job, int64_t row) {
  constexpr int lanes = kLanesOf<T>;
  const T *a = static_cast<const T *>(job.a) + 2 * row * job.aRowStride,
          *b = static_cast<const T *>(job.panel);
  Vec<T> byReal[kRows][2] = {}, byImaginary[kRows][2] = {};
  for (int64_t k = 0; k < job.depth; ++k, b += 2 * lanes) {
    Vec<T> left = load(b), right = load(b + lanes);
    for (int i = 0; i < kRows; ++i) {
      const T *x = a + 2 * (i * job.aRowStride + k * job.aStride);
      byReal[i][0] += x[0] * left;
      byReal[i][1] += x[0] * right;
      byImaginary[i][0] += x[1] * left;
      byImaginary[i][1] += x[1] * right;
    }
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < 2; ++j) {
      T *to = static_cast<T *>(job.c) + (row + i) * 2 * job.cStride + j * lanes;
      int64_t left = 2 * job.columns - j * lanes;
      Vec<T> sum = byReal[i][j] + timesUnit<T>(byImaginary[i][j]);
      if (left >= lanes)
        store(to, job.accumulates ? Vec<T>(load(to) + sum) : sum);
      else if (left > 0)
        storePart(to, job.accumulates ? Vec<T>(loadPart(to, left) + sum) : sum, left);
    }
}

template <class T> void multiplyPanel(const ComplexPanelJob &job) {
  int64_t row = 0;
  for (; row + 2 <= job.rows; row += 2)
    multiplyRows<T, 2>(job, row);
  if (row < job.rows)
    multiplyRows<T, 1>(job, row);
}

} // namespace

void addComplexProducts(IsaKernels &table) {
  table.complexPanel[0] = &multiplyPanel<float>;
  table.complexPanel[1] = &multiplyPanel<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
