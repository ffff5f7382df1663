// Products of complex numbers with a chirp, and with its filter, between Fourier transforms.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// With steps that the compiler knows where numbers and pairs are contiguous.
template <class T, bool kReal, bool kContiguous> void spread(const ChirpJob &job) {
  const T *from = static_cast<const T *>(job.numbers);
  const int64_t step = kContiguous ? 1 : job.step, pairStep = kContiguous ? 1 : job.pairStep;
  const T factor = static_cast<T>(job.factor), sign = job.isConjugate ? -factor : factor;
  const T *__restrict chirp = static_cast<const T *>(job.chirp);
  T *__restrict to = static_cast<T *>(job.pairs);
  for (int64_t i = 0; i < job.count; ++i) {
    T c = chirp[2 * i], s = chirp[2 * i + 1];
    if constexpr (kReal) {
      T x = from[i * step] * factor;
      to[2 * i * pairStep] = x * c;
      to[2 * i * pairStep + 1] = x * s;
    } else {
      T x = from[2 * i * step] * factor, y = from[2 * i * step + 1] * sign;
      to[2 * i * pairStep] = x * c - y * s;
      to[2 * i * pairStep + 1] = x * s + y * c;
    }
  }
}

template <class T, bool kReal, bool kContiguous> void gather(const ChirpJob &job) {
  T *__restrict to = static_cast<T *>(job.numbers);
  const int64_t step = kContiguous ? 1 : job.step, pairStep = kContiguous ? 1 : job.pairStep;
  const T factor = static_cast<T>(job.factor), sign = job.isConjugate ? -factor : factor;
  const T *__restrict chirp = static_cast<const T *>(job.chirp);
  const T *__restrict from = static_cast<const T *>(job.pairs);
  for (int64_t i = 0; i < job.count; ++i) {
    T c = chirp[2 * i], s = chirp[2 * i + 1], x = from[2 * i * pairStep], y = from[2 * i * pairStep + 1];
    if constexpr (kReal) {
      to[i * step] = (x * c - y * s) * factor;
    } else {
      to[2 * i * step] = (x * c - y * s) * factor;
      to[2 * i * step + 1] = (x * s + y * c) * sign;
    }
  }
}

template <class T> void spreadChirp(const ChirpJob &job) {
  if (job.step == 1 && job.pairStep == 1)
    return job.isReal ? spread<T, true, true>(job) : spread<T, false, true>(job);
  job.isReal ? spread<T, true, false>(job) : spread<T, false, false>(job);
}
template <class T> void gatherChirp(const ChirpJob &job) {
  if (job.step == 1 && job.pairStep == 1)
    return job.isReal ? gather<T, true, true>(job) : gather<T, false, true>(job);
  job.isReal ? gather<T, true, false>(job) : gather<T, false, false>(job);
}

template <class T> void multiplyPairs(void *numbers, const void *factors, int64_t count) {
  T *__restrict to = static_cast<T *>(numbers);
  const T *__restrict by = static_cast<const T *>(factors);
  for (int64_t i = 0; i < count; ++i) {
    T x = to[2 * i], y = to[2 * i + 1], c = by[2 * i], s = by[2 * i + 1];
    to[2 * i] = x * c - y * s;
    to[2 * i + 1] = x * s + y * c;
  }
}

} // namespace

void addChirps(IsaKernels &table) {
  table.spreadChirp[0] = &spreadChirp<float>;
  table.spreadChirp[1] = &spreadChirp<double>;
  table.gatherChirp[0] = &gatherChirp<float>;
  table.gatherChirp[1] = &gatherChirp<double>;
  table.multiplyPairs[0] = &multiplyPairs<float>;
  table.multiplyPairs[1] = &multiplyPairs<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
