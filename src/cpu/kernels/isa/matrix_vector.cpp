// Products of a matrix, where it lies, with a vector.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class T> TORCHERE_INLINE Vec<T> elements(const T *p) {
  return load(p);
}
TORCHERE_INLINE U elements(const int8_t *p) {
#if defined(__AVX512F__)
  return (U)_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  return (U)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)));
#else
  U v;
  for (int i = 0; i < kLanes; ++i)
    v[i] = static_cast<uint32_t>(p[i]);
  return v;
#endif
}
TORCHERE_INLINE U elements(const uint8_t *p) {
#if defined(__AVX512F__)
  return (U)_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  return (U)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)));
#else
  U v;
  for (int i = 0; i < kLanes; ++i)
    v[i] = p[i];
  return v;
#endif
}

/// So many rows: a vector of x is loaded once for all of them. Four sums a row do not wait for each other.
template <int kRows, class M, class T>
TORCHERE_INLINE void dotsOfRows(const MatrixVectorJob &job, int64_t row) {
  constexpr int lanes = kLanesOf<T>, ways = 4;
  const M *m = static_cast<const M *>(job.matrix) + row * job.rowStride;
  const T *x = static_cast<const T *>(job.vector);
  Vec<T> sums[kRows][ways] = {};
  int64_t i = 0;
  for (; i + ways * lanes <= job.columns; i += ways * lanes)
    for (int way = 0; way < ways; ++way) {
      Vec<T> factor = load(x + i + way * lanes);
      for (int r = 0; r < kRows; ++r)
        sums[r][way] += factor * elements(m + r * job.rowStride + i + way * lanes);
    }
  for (; i + lanes <= job.columns; i += lanes)
    for (int r = 0; r < kRows; ++r)
      sums[r][0] += load(x + i) * elements(m + r * job.rowStride + i);
  for (int r = 0; r < kRows; ++r) {
    T rest = 0;
    for (int64_t j = i; j < job.columns; ++j)
      rest += x[j] * static_cast<T>(m[r * job.rowStride + j]);
    Vec<T> sum = (sums[r][0] + sums[r][1]) + (sums[r][2] + sums[r][3]);
    static_cast<T *>(job.result)[row + r] = foldLanes<T>(sum, [](T a, T b) { return a + b; }) + rest;
  }
}

template <class M, class T> void rowDots(const MatrixVectorJob &job) {
  int64_t row = 0;
  for (; row + 2 <= job.rows; row += 2)
    dotsOfRows<2, M, T>(job, row);
  if (row < job.rows)
    dotsOfRows<1, M, T>(job, row);
}

/// So many rows, joined before they are added to those before: few additions follow each other. What stores
/// might change is read before them.
template <int kRows, class M, class T> TORCHERE_INLINE void addRows(const MatrixVectorJob &job, int64_t row) {
  constexpr int lanes = kLanesOf<T>;
  const int64_t stride = job.rowStride, columns = job.columns;
  const M *m = static_cast<const M *>(job.matrix) + row * stride;
  T *to = static_cast<T *>(job.result);
  T x[kRows];
  Vec<T> factors[kRows];
  for (int r = 0; r < kRows; ++r) {
    x[r] = static_cast<const T *>(job.vector)[row + r];
    factors[r] = splat(x[r]);
  }
  int64_t column = 0;
  for (; column + lanes <= columns; column += lanes) {
    Vec<T> sum = factors[0] * elements(m + column);
    for (int r = 1; r < kRows; ++r)
      sum += factors[r] * elements(m + r * stride + column);
    store(to + column, row == 0 ? sum : load(to + column) + sum);
  }
  for (; column < columns; ++column) {
    T sum = 0;
    for (int r = 0; r < kRows; ++r)
      sum += x[r] * static_cast<T>(m[r * stride + column]);
    to[column] = row == 0 ? sum : to[column] + sum;
  }
}

template <class M, class T> void rowSums(const MatrixVectorJob &job) {
  int64_t row = 0;
  for (; row + 8 <= job.rows; row += 8)
    addRows<8, M, T>(job, row);
  for (; row + 4 <= job.rows; row += 4)
    addRows<4, M, T>(job, row);
  for (; row < job.rows; ++row)
    addRows<1, M, T>(job, row);
}

} // namespace

void addMatrixVector(IsaKernels &table) {
  table.rowDots[kF32] = &rowDots<float, float>;
  table.rowDots[kF64] = &rowDots<double, double>;
  table.rowDots[kInt32] = &rowDots<uint32_t, uint32_t>;
  table.rowDots[kInt64] = &rowDots<uint64_t, uint64_t>;
  table.rowDots[kInt8] = &rowDots<int8_t, uint32_t>;
  table.rowDots[kUInt8] = &rowDots<uint8_t, uint32_t>;
  table.rowSums[kF32] = &rowSums<float, float>;
  table.rowSums[kF64] = &rowSums<double, double>;
  table.rowSums[kInt32] = &rowSums<uint32_t, uint32_t>;
  table.rowSums[kInt64] = &rowSums<uint64_t, uint64_t>;
  table.rowSums[kInt8] = &rowSums<int8_t, uint32_t>;
  table.rowSums[kUInt8] = &rowSums<uint8_t, uint32_t>;
}

} // namespace torchere::cpu::TORCHERE_ISA
