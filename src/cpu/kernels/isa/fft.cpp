// Stages of Fourier transforms, of one line or of as many at once as a vector has elements.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class V> struct Pair {
  V re, im;
};
template <class V> TORCHERE_INLINE Pair<V> operator+(Pair<V> a, Pair<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V> TORCHERE_INLINE Pair<V> operator-(Pair<V> a, Pair<V> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V, class T> TORCHERE_INLINE Pair<V> turned(Pair<V> a, const T *root) {
  return {a.re * root[0] - a.im * root[1], a.re * root[1] + a.im * root[0]};
}

/// What a stage reads and writes: `rest` groups of `radix` elements each, `step` of them beside each other.
template <class V, class T> struct Stage {
  const Pair<V> *from;
  Pair<V> *to;
  int64_t rest, step;
  const T *unit;  ///< the radix' roots of unity
  const T *roots; ///< radix - 1 of each group
};

template <class V, class T> void byTwo(const Stage<V, T> &stage) {
  const int64_t rest = stage.rest, step = stage.step;
  for (int64_t p = 0; p < rest; ++p)
    for (int64_t q = 0; q < step; ++q) {
      Pair<V> a = stage.from[q + step * p], b = stage.from[q + step * (p + rest)];
      Pair<V> *to = stage.to + q + step * 2 * p;
      to[0] = a + b;
      to[step] = turned(a - b, stage.roots + 2 * p);
    }
}

template <class V, class T> void byFour(const Stage<V, T> &stage) {
  const int64_t rest = stage.rest, step = stage.step;
  for (int64_t p = 0; p < rest; ++p) {
    const T *roots = stage.roots + 6 * p;
    for (int64_t q = 0; q < step; ++q) {
      const Pair<V> *from = stage.from + q + step * p;
      Pair<V> a = from[0], b = from[step * rest], c = from[2 * step * rest], d = from[3 * step * rest];
      Pair<V> even = a + c, evenDown = a - c, odd = b + d, oddDown = b - d;
      Pair<V> quarter{oddDown.im, -oddDown.re}; // times -i
      Pair<V> *to = stage.to + q + step * 4 * p;
      to[0] = even + odd;
      to[step] = turned(evenDown + quarter, roots);
      to[2 * step] = turned(even - odd, roots + 2);
      to[3 * step] = turned(evenDown - quarter, roots + 4);
    }
  }
}

/// By the definition.
template <class V, class T> void byAny(const Stage<V, T> &stage, int radix) {
  const int64_t rest = stage.rest, step = stage.step;
  Pair<V> in[kMaxFftRadix];
  for (int64_t p = 0; p < rest; ++p) {
    const T *roots = stage.roots + 2 * (radix - 1) * p;
    for (int64_t q = 0; q < step; ++q) {
      for (int j = 0; j < radix; ++j)
        in[j] = stage.from[q + step * (p + rest * j)];
      Pair<V> *to = stage.to + q + step * radix * p;
      for (int k = 0; k < radix; ++k) {
        Pair<V> sum = in[0];
        int power = 0;
        for (int j = 1; j < radix; ++j) {
          power += k;
          power -= power >= radix ? radix : 0;
          sum = sum + turned(in[j], stage.unit + 2 * power);
        }
        to[step * k] = k == 0 ? sum : turned(sum, roots + 2 * (k - 1));
      }
    }
  }
}

template <class T, class V> void *transform(const FftJob &job) {
  auto *from = static_cast<Pair<V> *>(job.data), *to = static_cast<Pair<V> *>(job.scratch);
  const T *table = static_cast<const T *>(job.roots);
  int64_t rest = job.size, step = 1;
  for (int i = 0; i < job.radixCount; ++i) {
    const int radix = job.radices[i];
    rest /= radix;
    Stage<V, T> stage{from, to, rest, step, table, table + 2 * radix};
    if (radix == 2)
      byTwo(stage);
    else if (radix == 4)
      byFour(stage);
    else
      byAny(stage, radix);
    table += 2 * radix + 2 * (radix - 1) * rest;
    step *= radix;
    Pair<V> *other = from;
    from = to;
    to = other;
  }
  return from;
}

template <class T> void *transformLines(const FftJob &job) {
  return job.isVector ? transform<T, Vec<T>>(job) : transform<T, T>(job);
}

} // namespace

void addFft(IsaKernels &table) {
  table.fft[0] = &transformLines<float>;
  table.fft[1] = &transformLines<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
