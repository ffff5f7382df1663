// Products that are taken off a matrix where it lies, as factorizations and substitutions do.
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

} // namespace

void addRankUpdate(IsaKernels &table) {
  table.rankUpdate[0] = &rankUpdate<float>;
  table.rankUpdate[1] = &rankUpdate<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
