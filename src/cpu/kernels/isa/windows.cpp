// Windows and running reductions: loops over functions of elements, which the compiler makes loops of
// vectors.
#include "cpu/kernels/isa/joins.h"
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int64_t kBlock = 64;      ///< outputs at a time
constexpr int64_t kChunkTaps = 256; ///< taps that are summed on their own

template <class T> TORCHERE_INLINE T rounded(Sum<T> x) {
  if constexpr (kIsHalf<T>)
    return fromFloat<T>(x);
  else
    return x;
}

/// The elements of one tap joined to `sums`; `step` may be a constant.
template <class T, class Fn>
TORCHERE_INLINE void joinTap(const T *x, int64_t step, Sum<T> *sums, int64_t n, Fn fn) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    sums[i] = static_cast<Sum<T>>(fn(sums[i], element(x[i * step])));
}

template <class T, class Fn>
TORCHERE_INLINE void joinTaps(const WindowJob &job, const T *x, int64_t step, Sum<T> *sums, int64_t n,
                              Fn fn) {
  for (int64_t first = 0; first < job.tapCount; first += kChunkTaps) {
    int64_t end = first + kChunkTaps < job.tapCount ? first + kChunkTaps : job.tapCount;
    Sum<T> chunk[kBlock];
    for (int64_t i = 0; i < n; ++i)
      chunk[i] = element(x[job.taps[first] + i * step]);
    for (int64_t t = first + 1; t < end; ++t)
      joinTap(x + job.taps[t], step, chunk, n, fn);
    for (int64_t i = 0; i < n; ++i)
      sums[i] = static_cast<Sum<T>>(fn(sums[i], chunk[i]));
  }
}

template <class T, class Fn> void windows(const WindowJob &job) {
  Fn fn{};
  const T *x = static_cast<const T *>(job.input);
  T *y = static_cast<T *>(job.output);
  Sum<T> initial = element(*static_cast<const T *>(job.initial));
  for (int64_t first = 0; first < job.count; first += kBlock) {
    int64_t n = job.count - first < kBlock ? job.count - first : kBlock;
    Sum<T> sums[kBlock];
    for (int64_t i = 0; i < n; ++i)
      sums[i] = initial;
    const T *from = x + first * job.step;
    if (job.step == 1)
      joinTaps(job, from, 1, sums, n, fn);
    else if (job.step == 2)
      joinTaps(job, from, 2, sums, n, fn);
    else
      joinTaps(job, from, job.step, sums, n, fn);
    for (int64_t i = 0; i < n; ++i)
      y[first + i] = rounded<T>(sums[i]);
  }
}

/// Long sums of f32 one element after another would lose digits.
template <class T> struct RunningSumOf {
  using Type = Sum<T>;
};
template <> struct RunningSumOf<float> {
  using Type = double;
};

/// Columns that lie apart, `kCount` of them from this one on: sums stay in registers.
template <class T, class Fn, int kCount> void runningLines(const RunningJob &job, int64_t first) {
  using S = typename RunningSumOf<T>::Type;
  Fn fn{};
  S sums[kCount];
  for (S &sum : sums)
    sum = element(*static_cast<const T *>(job.initial));
  const T *x = static_cast<const T *>(job.input) + first * job.apart;
  T *y = static_cast<T *>(job.output) + first * job.apart;
  for (int64_t row = 0; row < job.length; ++row, x += job.stride, y += job.stride)
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i) {
      sums[i] = static_cast<S>(fn(sums[i], static_cast<S>(element(x[i * job.apart]))));
      y[i * job.apart] = rounded<T>(static_cast<Sum<T>>(sums[i]));
    }
}

template <class T, class Fn> void running(const RunningJob &job) {
  if (job.apart != 1) {
    int64_t first = 0;
    for (; first + 4 <= job.columns; first += 4)
      runningLines<T, Fn, 4>(job, first);
    for (; first < job.columns; ++first)
      runningLines<T, Fn, 1>(job, first);
    return;
  }
  using S = typename RunningSumOf<T>::Type;
  Fn fn{};
  S sums[kRunningColumns];
  for (int64_t i = 0; i < job.columns; ++i)
    sums[i] = element(*static_cast<const T *>(job.initial));
  const T *x = static_cast<const T *>(job.input);
  T *y = static_cast<T *>(job.output);
  for (int64_t row = 0; row < job.length; ++row, x += job.stride, y += job.stride)
#pragma GCC ivdep
    for (int64_t i = 0; i < job.columns; ++i) {
      sums[i] = static_cast<S>(fn(sums[i], static_cast<S>(element(x[i]))));
      y[i] = rounded<T>(static_cast<Sum<T>>(sums[i]));
    }
}

struct PutWindows {
  IsaKernels &table;
  template <class T, class Fn> void operator()(int type, int reduction, Fn) {
    table.windows[type][reduction] = &windows<T, Fn>;
    table.running[type][reduction] = &running<T, Fn>;
  }
};

} // namespace

void addWindows(IsaKernels &table) {
  JoinTable(PutWindows{table}).fill();
}

} // namespace torchere::cpu::TORCHERE_ISA
