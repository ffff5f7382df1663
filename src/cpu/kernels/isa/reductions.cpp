// Reductions along contiguous elements and across rows.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// What is computed in: f32 for halves; unsigned integers, whose sums wrap, for the sums of signed ones.
template <class T> struct SumOf {
  using Type = T;
};
template <> struct SumOf<BF16> {
  using Type = float;
};
template <> struct SumOf<F16> {
  using Type = float;
};
template <class T> using Sum = typename SumOf<T>::Type;
template <class T> constexpr bool kIsHalf = false;
template <> constexpr bool kIsHalf<BF16> = true;
template <> constexpr bool kIsHalf<F16> = true;

template <class T> TORCHERE_INLINE Sum<T> element(T x) {
  if constexpr (kIsHalf<T>)
    return toFloat(x);
  else
    return x;
}
template <class T> TORCHERE_INLINE Vec<Sum<T>> elements(const T *p) {
  if constexpr (kIsHalf<T>)
    return loadFloats(p);
  else
    return load(p);
}

constexpr auto kSum = [](auto a, auto b) { return a + b; };
constexpr auto kProduct = [](auto a, auto b) { return a * b; };
constexpr auto kMax = [](auto a, auto b) { return a != a ? a : a > b ? a : b; };
constexpr auto kMin = [](auto a, auto b) { return a != a ? a : a < b ? a : b; };
constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };

constexpr int64_t kChunk = 64;

template <class T, class Fn> void along(const ReduceJob &job) {
  using S = Sum<T>;
  constexpr int64_t lanes = kLanesOf<S>;
  Fn fn{};
  for (int64_t row = 0; row < job.rows; ++row) {
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

template <class T, class Fn> void across(const ReduceJob &job) {
  using S = Sum<T>;
  constexpr int64_t lanes = kLanesOf<S>;
  Fn fn{};
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
    for (; column < job.columns; ++column) {
      S sum = element(x[first * job.rowStride + column]);
      for (int64_t row = first + 1; row < end; ++row)
        sum = static_cast<S>(fn(sum, element(x[row * job.rowStride + column])));
      output[column] = static_cast<S>(fn(output[column], sum));
    }
  }
}

template <class T, class Fn> void put(IsaKernels &table, int type, int reduction, Fn) {
  table.reduceAlong[type][reduction] = &along<T, Fn>;
  table.reduceAcross[type][reduction] = &across<T, Fn>;
}

/// `W` is T unsigned.
template <class T, class W> void addInteger(IsaKernels &table, int type) {
  put<W>(table, type, 0, kSum);
  put<W>(table, type, 1, kProduct);
  put<T>(table, type, 2, kMax);
  put<T>(table, type, 3, kMin);
  put<W>(table, type, 4, kAnd);
  put<W>(table, type, 5, kOr);
}
template <class T> void addFloat(IsaKernels &table, int type) {
  put<T>(table, type, 0, kSum);
  put<T>(table, type, 1, kProduct);
  put<T>(table, type, 2, kMax);
  put<T>(table, type, 3, kMin);
}

} // namespace

/// In the order of DType.
void addReductions(IsaKernels &table) {
  put<uint8_t>(table, 0, 0, kOr);
  put<uint8_t>(table, 0, 1, kAnd);
  put<uint8_t>(table, 0, 2, kOr);
  put<uint8_t>(table, 0, 3, kAnd);
  put<uint8_t>(table, 0, 4, kAnd);
  put<uint8_t>(table, 0, 5, kOr);
  addInteger<int8_t, uint8_t>(table, 1);
  addInteger<int16_t, uint16_t>(table, 2);
  addInteger<int32_t, uint32_t>(table, 3);
  addInteger<int64_t, uint64_t>(table, 4);
  addInteger<uint8_t, uint8_t>(table, 5);
  addInteger<uint16_t, uint16_t>(table, 6);
  addInteger<uint32_t, uint32_t>(table, 7);
  addInteger<uint64_t, uint64_t>(table, 8);
  addFloat<F16>(table, 9);
  addFloat<BF16>(table, 10);
  addFloat<float>(table, 11);
  addFloat<double>(table, 12);
}

} // namespace torchere::cpu::TORCHERE_ISA
