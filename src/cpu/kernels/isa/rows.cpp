// Softmax and norms of rows.
#include "cpu/kernels/isa/double_math.h"
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class T> using V = Vec<Compute<T>>;

/// body(first element, elements, vector) over a row, with `filler` in the lanes beyond its end.
template <class T, class Body>
TORCHERE_INLINE void eachVector(const T *row, int64_t n, Compute<T> filler, Body body) {
  constexpr int lanes = kLanesOf<Compute<T>>;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    body(i, int64_t(lanes), widen(row + i));
  if (i < n) {
    V<T> v = widenPart(row + i, n - i);
    for (int j = static_cast<int>(n - i); j < lanes; ++j)
      v[j] = filler;
    body(i, n - i, v);
  }
}
template <class T> TORCHERE_INLINE void put(T *p, V<T> v, int64_t n) {
  n == kLanesOf<Compute<T>> ? narrow(p, v) : narrowPart(p, v, n);
}
template <class T> TORCHERE_INLINE V<T> get(const T *p, int64_t n) {
  return n == kLanesOf<Compute<T>> ? widen(p) : widenPart(p, n);
}

/// Of arguments that are at most 0.
TORCHERE_INLINE F exponentialOf(F x) {
  return exponentialOfNegative(x);
}
TORCHERE_INLINE D exponentialOf(D x) {
  return exponential(x);
}

TORCHERE_INLINE F logarithmOf(F x) {
  return logarithm(x);
}
TORCHERE_INLINE D logarithmOf(D x) {
  return logarithm(x);
}

constexpr auto kSum = [](auto a, auto b) { return a + b; };
constexpr auto kLargest = [](auto a, auto b) { return a != a ? a : a > b ? a : b; };

/// Sums in chunks, so that the error does not grow with the row.
template <class C> struct Sum {
  static constexpr int kChunk = 64;
  Vec<C> chunk{}, total{};
  int count = 0;
  TORCHERE_INLINE void add(Vec<C> v) {
    chunk += v;
    if (++count == kChunk) {
      total += chunk;
      chunk = Vec<C>{};
      count = 0;
    }
  }
  TORCHERE_INLINE Vec<C> lanes() const { return total + chunk; }
  TORCHERE_INLINE C value() const { return foldLanes<C>(lanes(), kSum); }
};

template <class T> void softmaxRow(const T *x, T *y, const RowsJob &job) {
  using C = Compute<T>;
  int64_t n = job.columns;
  bool logarithm = job.flag;
  C *kept = static_cast<C *>(const_cast<void *>(job.scale)); // scratch for one row
  const C lowest = -C(kInfinity);
  Vec<C> largest;
  for (int i = 0; i < kLanesOf<C>; ++i)
    largest[i] = lowest;
  eachVector(x, n, lowest, [&](int64_t, int64_t, Vec<C> v) { largest = kLargest(v, largest); });
  C most = foldLanes<C>(largest, kLargest);
  if (job.zeroWhenMasked && most == lowest) {
    memset(static_cast<void *>(y), 0, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  Sum<C> sum;
  eachVector(x, n, lowest, [&](int64_t i, int64_t count, Vec<C> v) {
    Vec<C> e = exponentialOf(v - most);
    sum.add(e);
    if (!logarithm)
      count == kLanesOf<C> ? store(kept + i, e) : storePart(kept + i, e, count);
  });
  C total = sum.value();
  if (logarithm) {
    C shift = sizeof(C) == 4 ? C(__builtin_logf(total)) : C(__builtin_log(total));
    eachVector(x, n, C(0), [&](int64_t i, int64_t count, Vec<C> v) { put(y + i, v - most - shift, count); });
    return;
  }
  C scale = C(1) / total;
  eachVector<C>(kept, n, C(0), [&](int64_t i, int64_t count, Vec<C> v) { put(y + i, v * scale, count); });
}

template <class T> void softmax(const RowsJob &job) {
  for (int64_t row = 0; row < job.rows; ++row)
    softmaxRow(static_cast<const T *>(job.input) + row * job.inputRowStride,
               static_cast<T *>(job.output) + row * job.outputRowStride, job);
}

/// Down the columns of kVectors vectors, the last of which has `last` elements.
template <class T, int kVectors> void softmaxColumns(const T *x, T *y, const AcrossJob &job, int64_t last) {
  using C = Compute<T>;
  constexpr int lanes = kLanesOf<C>;
  constexpr int64_t kAhead = 8; // rows may lie farther apart than what the processor foresees
  auto countOf = [&](int j) { return j + 1 < kVectors ? int64_t(lanes) : last; };
  C *kept = static_cast<C *>(job.kept);
  Vec<C> most[kVectors], factor[kVectors];
  Sum<C> sums[kVectors];
  for (int j = 0; j < kVectors; ++j)
    most[j] = splat(-C(kInfinity));
  for (int64_t row = 0; row < job.rows; ++row) {
    const T *from = x + row * job.rowStride;
    if (row + kAhead < job.rows)
      for (int64_t at = 0; at < int64_t(kVectors * lanes * sizeof(T)); at += 64)
        __builtin_prefetch(reinterpret_cast<const char *>(from + kAhead * job.rowStride) + at);
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      Vec<C> v = get(from + j * lanes, countOf(j));
      most[j] = kLargest(v, most[j]);
      store(kept + (row * kVectors + j) * lanes, v);
    }
  }
  for (int j = 0; j < kVectors; ++j)
    for (int64_t row = 0; row < job.rows; ++row) {
      C *here = kept + (row * kVectors + j) * lanes;
      Vec<C> shifted = load(here) - most[j], e = exponentialOf(shifted);
      sums[j].add(e);
      store(here, job.isLogarithm ? shifted : e);
    }
  for (int j = 0; j < kVectors; ++j)
    factor[j] = job.isLogarithm ? logarithmOf(sums[j].lanes()) : C(1) / sums[j].lanes();
  for (int64_t row = 0; row < job.rows; ++row)
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      Vec<C> v = load(kept + (row * kVectors + j) * lanes);
      put(y + row * job.rowStride + j * lanes, job.isLogarithm ? v - factor[j] : v * factor[j], countOf(j));
    }
}

template <class T> void softmaxAcross(const AcrossJob &job) {
  constexpr int64_t lanes = kLanesOf<Compute<T>>, width = kAcrossVectors * lanes;
  const T *x = static_cast<const T *>(job.input);
  T *y = static_cast<T *>(job.output);
  int64_t i = 0;
  for (; i + width <= job.columns; i += width)
    softmaxColumns<T, kAcrossVectors>(x + i, y + i, job, lanes);
  for (; i < job.columns; i += lanes)
    softmaxColumns<T, 1>(x + i, y + i, job, job.columns - i < lanes ? job.columns - i : lanes);
}

/// `Factor`: of the scale and the bias.
template <class T, class Factor> void normRow(const T *x, T *y, const RowsJob &job) {
  using C = Compute<T>;
  int64_t n = job.columns;
  C mean = 0;
  if (job.flag) {
    Sum<C> sum;
    eachVector(x, n, C(0), [&](int64_t, int64_t, Vec<C> v) { sum.add(v); });
    mean = sum.value() / C(n);
  }
  Sum<C> squares;
  eachVector(x, n, mean, [&](int64_t, int64_t, Vec<C> v) {
    Vec<C> d = v - mean;
    squares.add(d * d);
  });
  double variance = double(squares.value()) / double(n);
  C factor = C(1 / __builtin_sqrt(variance + job.epsilon));
  const Factor *scale = static_cast<const Factor *>(job.scale), *bias = static_cast<const Factor *>(job.bias);
  eachVector(x, n, C(0), [&](int64_t i, int64_t count, Vec<C> v) {
    v = (v - mean) * factor;
    if (scale)
      v *= get(scale + i, count);
    if (bias)
      v += get(bias + i, count);
    put(y + i, v, count);
  });
}

template <class T> void norm(const RowsJob &job) {
  auto *function = job.hasWideFactors ? &normRow<T, Compute<T>> : &normRow<T, T>;
  for (int64_t row = 0; row < job.rows; ++row)
    function(static_cast<const T *>(job.input) + row * job.inputRowStride,
             static_cast<T *>(job.output) + row * job.outputRowStride, job);
}

} // namespace

void addRows(IsaKernels &table) {
  table.softmax[kF32] = &softmax<float>;
  table.softmax[kF64] = &softmax<double>;
  table.softmax[kBF16] = &softmax<BF16>;
  table.softmax[kF16] = &softmax<F16>;
  table.softmaxAcross[kF32] = &softmaxAcross<float>;
  table.softmaxAcross[kF64] = &softmaxAcross<double>;
  table.softmaxAcross[kBF16] = &softmaxAcross<BF16>;
  table.softmaxAcross[kF16] = &softmaxAcross<F16>;
  table.norm[kF32] = &norm<float>;
  table.norm[kF64] = &norm<double>;
  table.norm[kBF16] = &norm<BF16>;
  table.norm[kF16] = &norm<F16>;
}

} // namespace torchere::cpu::TORCHERE_ISA
