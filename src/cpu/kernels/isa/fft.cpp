// Stages of Fourier transforms, of one line or of as many at once as a vector has elements, and how lines
// come from memory and go there.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class V> struct Complex {
  V re, im;
};
/// How numbers lie. An inverse transform is one of the numbers with their parts swapped.
template <class V, bool kSwapped> struct Pair {
  V parts[2];
  TORCHERE_INLINE operator Complex<V>() const { return {parts[kSwapped], parts[!kSwapped]}; }
  TORCHERE_INLINE void operator=(Complex<V> x) {
    parts[kSwapped] = x.re;
    parts[!kSwapped] = x.im;
  }
};
template <class V> TORCHERE_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V> TORCHERE_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V, class T> TORCHERE_INLINE Complex<V> turned(Complex<V> a, const T *root) {
  return {a.re * root[0] - a.im * root[1], a.re * root[1] + a.im * root[0]};
}
/// a + b times -i.
template <class V> TORCHERE_INLINE Complex<V> plusQuarter(Complex<V> a, Complex<V> b) {
  return {a.re + b.im, a.im - b.re};
}
template <class V> TORCHERE_INLINE Complex<V> minusQuarter(Complex<V> a, Complex<V> b) {
  return {a.re - b.im, a.im + b.re};
}
template <class V, class T> TORCHERE_INLINE Complex<V> scaled(Complex<V> a, T factor) {
  return {a.re * factor, a.im * factor};
}

/// What a stage reads and writes: `rest` groups of `radix` elements each, `step` of them beside each other.
template <class P, class T> struct Stage {
  const P *from;
  P *to;
  int64_t rest, step;
  const T *unit;  ///< the radix' roots of unity
  const T *roots; ///< radix - 1 of each group
};

template <class V> TORCHERE_INLINE void transformFew(Complex<V> (&x)[2]) {
  Complex<V> a = x[0], b = x[1];
  x[0] = a + b;
  x[1] = a - b;
}

template <class V> TORCHERE_INLINE void transformFew(Complex<V> (&x)[4]) {
  Complex<V> even = x[0] + x[2], evenDown = x[0] - x[2], odd = x[1] + x[3], oddDown = x[1] - x[3];
  x[0] = even + odd;
  x[1] = plusQuarter(evenDown, oddDown);
  x[2] = even - odd;
  x[3] = minusQuarter(evenDown, oddDown);
}

/// Of an odd radix, by what the elements from both ends have in common.
template <class V, class T, int kRadix>
TORCHERE_INLINE void transformOdd(Complex<V> (&x)[kRadix], const T *unit) {
  constexpr int half = kRadix / 2;
  Complex<V> sums[half], differences[half], total = x[0];
  for (int i = 0; i < half; ++i) {
    sums[i] = x[i + 1] + x[kRadix - 1 - i];
    differences[i] = x[i + 1] - x[kRadix - 1 - i];
    total = total + sums[i];
  }
  Complex<V> first = x[0];
  for (int k = 1; k <= half; ++k) {
    Complex<V> even = first, odd{};
    for (int i = 0; i < half; ++i) {
      const T *root = unit + 2 * (k * (i + 1) % kRadix);
      even = even + scaled(sums[i], root[0]);
      odd = odd + scaled(differences[i], -root[1]);
    }
    x[k] = plusQuarter(even, odd);
    x[kRadix - k] = minusQuarter(even, odd);
  }
  x[0] = total;
}

template <class V, class T, int kRadix, class P> void byRadix(const Stage<P, T> &stage) {
  const int64_t rest = stage.rest, step = stage.step;
  for (int64_t p = 0; p < rest; ++p) {
    const T *roots = stage.roots + 2 * (kRadix - 1) * p;
    for (int64_t q = 0; q < step; ++q) {
      Complex<V> x[kRadix];
      const P *from = stage.from + q + step * p;
      for (int i = 0; i < kRadix; ++i)
        x[i] = from[step * rest * i];
      if constexpr (kRadix == 2 || kRadix == 4)
        transformFew(x);
      else
        transformOdd<V, T, kRadix>(x, stage.unit);
      P *to = stage.to + q + step * kRadix * p;
      to[0] = x[0];
      for (int i = 1; i < kRadix; ++i)
        to[step * i] = turned(x[i], roots + 2 * (i - 1));
    }
  }
}

/// By the definition.
template <class V, class T, class P> void byAny(const Stage<P, T> &stage, int radix) {
  const int64_t rest = stage.rest, step = stage.step;
  Complex<V> in[kMaxFftRadix];
  for (int64_t p = 0; p < rest; ++p) {
    const T *roots = stage.roots + 2 * (radix - 1) * p;
    for (int64_t q = 0; q < step; ++q) {
      for (int j = 0; j < radix; ++j)
        in[j] = stage.from[q + step * (p + rest * j)];
      P *to = stage.to + q + step * radix * p;
      for (int k = 0; k < radix; ++k) {
        Complex<V> sum = in[0];
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

template <class T, class V, bool kSwapped> void *transform(const FftJob &job) {
  using P = Pair<V, kSwapped>;
  auto *from = static_cast<P *>(job.data), *to = static_cast<P *>(job.scratch);
  const T *table = static_cast<const T *>(job.roots);
  int64_t rest = job.size, step = 1;
  for (int i = 0; i < job.radixCount; ++i) {
    const int radix = job.radices[i];
    rest /= radix;
    Stage<P, T> stage{from, to, rest, step, table, table + 2 * radix};
    if (radix == 2)
      byRadix<V, T, 2>(stage);
    else if (radix == 3)
      byRadix<V, T, 3>(stage);
    else if (radix == 4)
      byRadix<V, T, 4>(stage);
    else if (radix == 5)
      byRadix<V, T, 5>(stage);
    else
      byAny<V, T>(stage, radix);
    table += 2 * radix + 2 * (radix - 1) * rest;
    step *= radix;
    P *other = from;
    from = to;
    to = other;
  }
  return from;
}

template <class T> void *transformLines(const FftJob &job) {
  if (job.isInverse)
    return job.isVector ? transform<T, Vec<T>, true>(job) : transform<T, T, true>(job);
  return job.isVector ? transform<T, Vec<T>, false>(job) : transform<T, T, false>(job);
}

/// Numbers k and half - k of both sides at once. The even elements' transform is (z[k] + conj z[half - k]) /
/// 2, and the odd ones' (z[k] - conj z[half - k]) / 2i.
template <class T, class V> void joinHalves(const FftHalvesJob &job) {
  using P = Pair<V, false>;
  const auto *from = static_cast<const P *>(job.from);
  auto *to = static_cast<P *>(job.to);
  const T *roots = static_cast<const T *>(job.roots);
  const V zero{};
  Complex<V> first = from[0];
  to[0] = Complex<V>{first.re + first.im, zero};
  to[job.half] = Complex<V>{first.re - first.im, zero};
  for (int64_t k = 1; 2 * k <= job.half; ++k) {
    Complex<V> a = from[k], b = from[job.half - k];
    const T half = static_cast<T>(0.5);
    Complex<V> even{(a.re + b.re) * half, (a.im - b.im) * half};
    Complex<V> odd{(a.im + b.im) * half, (b.re - a.re) * half};
    odd = turned(odd, roots + 2 * k);
    to[k] = even + odd;
    to[job.half - k] = Complex<V>{even.re - odd.re, odd.im - even.im};
  }
}

/// The imaginary parts of the first and the last number, which must be zero, are not read.
template <class T, class V> void splitHalves(const FftHalvesJob &job) {
  using P = Pair<V, false>;
  const auto *from = static_cast<const P *>(job.from);
  auto *to = static_cast<P *>(job.to);
  const T *roots = static_cast<const T *>(job.roots);
  const T half = static_cast<T>(0.5);
  Complex<V> first = from[0], last = from[job.half];
  to[0] = Complex<V>{(first.re + last.re) * half, (first.re - last.re) * half};
  for (int64_t k = 1; 2 * k <= job.half; ++k) {
    Complex<V> a = from[k], b = from[job.half - k];
    const T root[2] = {roots[2 * k], -roots[2 * k + 1]};
    Complex<V> even{(a.re + b.re) * half, (a.im - b.im) * half};
    Complex<V> odd = turned(Complex<V>{(a.re - b.re) * half, (a.im + b.im) * half}, root);
    to[k] = Complex<V>{even.re - odd.im, even.im + odd.re};
    to[job.half - k] = Complex<V>{even.re + odd.im, odd.re - even.im};
  }
}

template <class T> void convertHalves(const FftHalvesJob &job) {
  if (job.isInverse)
    job.isVector ? splitHalves<T, Vec<T>>(job) : splitHalves<T, T>(job);
  else
    job.isVector ? joinHalves<T, Vec<T>>(job) : joinHalves<T, T>(job);
}

/// The places of every second element of two vectors, from `first` on; and of elements of both in turns.
template <class V> TORCHERE_INLINE auto secondPlaces(int first, int lanes) {
  decltype(V{} < V{}) places{};
  for (int i = 0; i < lanes; ++i)
    places[i] = first + 2 * i;
  return places;
}
template <class V> TORCHERE_INLINE auto turnPlaces(int first, int lanes) {
  decltype(V{} < V{}) places{};
  for (int i = 0; i < lanes; ++i)
    places[i] = first + i / 2 + (i % 2) * lanes;
  return places;
}

template <class T> TORCHERE_INLINE Complex<Vec<T>> splitPair(const T *from) {
  constexpr int lanes = kLanesOf<T>;
  Vec<T> low = load(from), high = load(from + lanes);
  return {Vec<T>(__builtin_shuffle(low, high, secondPlaces<Vec<T>>(0, lanes))),
          Vec<T>(__builtin_shuffle(low, high, secondPlaces<Vec<T>>(1, lanes)))};
}

template <class T> void splitNumbers(const FftPairsJob &job) {
  constexpr int lanes = kLanesOf<T>;
  const T *from = static_cast<const T *>(job.numbers);
  T *to = static_cast<T *>(job.vectors);
  for (int64_t row = 0; row < job.rows; ++row, from += 2 * job.stride, to += 2 * lanes) {
    Complex<Vec<T>> x = splitPair(from);
    store(to, x.re);
    store(to + lanes, x.im);
  }
}

template <class T> void joinNumbers(const FftPairsJob &job) {
  constexpr int lanes = kLanesOf<T>;
  const T *from = static_cast<const T *>(job.vectors), *roots = static_cast<const T *>(job.roots);
  T *to = static_cast<T *>(job.numbers);
  for (int64_t row = 0; row < job.rows; ++row, from += 2 * lanes, to += 2 * job.stride) {
    Complex<Vec<T>> x{load(from), load(from + lanes)};
    if (roots) {
      Complex<Vec<T>> root = splitPair(roots + 2 * job.stride * row);
      root.im = job.isConjugate ? -root.im : root.im;
      x = {x.re * root.re - x.im * root.im, x.re * root.im + x.im * root.re};
    }
    store(to, Vec<T>(__builtin_shuffle(x.re, x.im, turnPlaces<Vec<T>>(0, lanes))));
    store(to + lanes, Vec<T>(__builtin_shuffle(x.re, x.im, turnPlaces<Vec<T>>(lanes / 2, lanes))));
  }
}

} // namespace

void addFft(IsaKernels &table) {
  table.fft[0] = &transformLines<float>;
  table.fft[1] = &transformLines<double>;
  table.fftHalves[0] = &convertHalves<float>;
  table.fftHalves[1] = &convertHalves<double>;
  table.splitNumbers[0] = &splitNumbers<float>;
  table.splitNumbers[1] = &splitNumbers<double>;
  table.joinNumbers[0] = &joinNumbers<float>;
  table.joinNumbers[1] = &joinNumbers<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
