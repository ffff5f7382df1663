// Windows and running reductions: loops over functions of elements, which the compiler makes loops of
// vectors.
#include "cpu/kernels/isa/joins.h"
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int64_t kChunkTaps = 256; ///< taps that are summed on their own

template <class T> TORCHERE_INLINE T rounded(Sum<T> x) {
  if constexpr (kIsHalf<T>)
    return fromFloat<T>(x);
  else
    return x;
}

/// Outputs at a time that stay in registers.
template <class T> constexpr int64_t kRun = 4 * kLanesOf<Sum<T>>;

template <class T> TORCHERE_INLINE Vec<Sum<T>> elements(const T *p) {
  if constexpr (kIsHalf<T>)
    return widen(p);
  else
    return load(p);
}

/// `n` outputs, at most a run: their taps' elements joined to `sums`. `step` may be a constant. Elements that
/// do not lie side by side are brought there. Vectors, as of what joins single elements the compiler makes
/// branches.
template <class T, class Fn>
TORCHERE_INLINE void joinRun(const int64_t *taps, int64_t count, const T *x, int64_t step, Sum<T> *sums,
                             int64_t n, Fn fn) {
  constexpr int lanes = kLanesOf<Sum<T>>;
  T beside[kRun<T>] = {};
  auto elementsOf = [&](int64_t tap) {
    const T *from = x + taps[tap];
    if (step == 1 && n == kRun<T>)
      return from;
    for (int64_t i = 0; i < n; ++i)
      beside[i] = from[i * step];
    return static_cast<const T *>(beside);
  };
  Vec<Sum<T>> joined[4];
  const T *first = elementsOf(0);
  for (int i = 0; i < 4; ++i)
    joined[i] = elements(first + i * lanes);
  for (int64_t tap = 1; tap < count; ++tap) {
    const T *next = elementsOf(tap);
    for (int i = 0; i < 4; ++i)
      joined[i] = fn(joined[i], elements(next + i * lanes));
  }
  for (int i = 0; i < 4; ++i)
    store(sums + i * lanes, fn(load(sums + i * lanes), joined[i]));
}

template <class T, class Fn>
TORCHERE_INLINE void joinTaps(const WindowJob &job, const T *x, int64_t step, Sum<T> *sums, int64_t n,
                              Fn fn) {
  for (int64_t first = 0; first < job.tapCount; first += kChunkTaps) {
    int64_t count = job.tapCount - first < kChunkTaps ? job.tapCount - first : kChunkTaps;
    joinRun(job.taps + first, count, x, step, sums, n, fn);
  }
}

template <class T, class Fn> void windows(const WindowJob &job) {
  Fn fn{};
  const T *x = static_cast<const T *>(job.input);
  T *y = static_cast<T *>(job.output);
  Sum<T> initial = element(*static_cast<const T *>(job.initial));
  for (int64_t first = 0; first < job.count; first += kRun<T>) {
    int64_t n = job.count - first < kRun<T> ? job.count - first : kRun<T>;
    Sum<T> sums[kRun<T>];
    for (Sum<T> &sum : sums)
      sum = initial;
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

/// Gives one of its operands, or their bits, and no sum or product.
template <class Fn> constexpr bool kSelects = Fn{}(2, 3) <= 3;

/// Long sums and products of f32 one element after another would lose digits.
template <class T, class Fn, bool kIsWide = !kSelects<Fn>> struct RunningSumOf {
  using Type = Sum<T>;
};
template <class Fn> struct RunningSumOf<float, Fn, true> {
  using Type = double;
};

/// Columns that lie apart, `kCount` of them from this one on: sums stay in registers.
template <class T, class Fn, int kCount> void runningLines(const RunningJob &job, int64_t first) {
  using S = typename RunningSumOf<T, Fn>::Type;
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
  using S = typename RunningSumOf<T, Fn>::Type;
  Fn fn{};
  S sums[kRunningColumns];
  for (int64_t i = 0; i < job.columns; ++i)
    sums[i] = element(*static_cast<const T *>(job.initial));
  const T *x = static_cast<const T *>(job.input);
  T *y = static_cast<T *>(job.output);
  for (int64_t row = 0; row < job.length; ++row, x += job.stride, y += job.stride) {
    int64_t done = 0;
    if constexpr (kSelects<Fn>) {
      constexpr int lanes = kLanesOf<S>;
      for (; done + lanes <= job.columns; done += lanes) {
        Vec<S> joined = fn(load(sums + done), elements(x + done));
        store(sums + done, joined);
        if constexpr (kIsHalf<T>)
          narrow(y + done, joined);
        else
          store(y + done, joined);
      }
    }
#pragma GCC ivdep
    for (int64_t i = done; i < job.columns; ++i) {
      sums[i] = static_cast<S>(fn(sums[i], static_cast<S>(element(x[i]))));
      y[i] = rounded<T>(static_cast<Sum<T>>(sums[i]));
    }
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
