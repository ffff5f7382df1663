// Rows of windows that meet some of their elements.
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// `P` is the signed integer of T's size. A step of 0 is that of the job.
template <class T, class P, bool kIsLargest, bool kNanWins, int64_t kStep>
void meetTap(const WindowExtremaJob &job, const WindowExtremaJob::Tap &tap) {
  const int64_t step = kStep ? kStep : job.step, place = job.first + tap.offset;
  const T *x = static_cast<const T *>(job.input) + place;
  const P start = static_cast<P>(place), stride = static_cast<P>(step);
  T *values = static_cast<T *>(job.values);
  P *places = static_cast<P *>(job.places);
#pragma GCC ivdep
  for (int64_t i = tap.begin; i < tap.end; ++i) {
    T best = values[i], next = x[i * step];
    P at = places[i];
    bool isBetter = kIsLargest ? next > best : next < best;
    bool remains = kIsLargest ? best >= next : best <= next;
    bool wins = (kNanWins ? isBetter | (next != next) : !remains) | (at < 0);
    values[i] = wins ? next : best;
    places[i] = wins ? start + static_cast<P>(i) * stride : at;
  }
}

template <class T, class P, bool kIsLargest, bool kNanWins> void meetTaps(const WindowExtremaJob &job) {
  for (int64_t i = 0; i < job.tapCount; ++i) {
    if (job.step == 1)
      meetTap<T, P, kIsLargest, kNanWins, 1>(job, job.taps[i]);
    else if (job.step == 2)
      meetTap<T, P, kIsLargest, kNanWins, 2>(job, job.taps[i]);
    else
      meetTap<T, P, kIsLargest, kNanWins, 0>(job, job.taps[i]);
  }
}

template <class T, class P> void windowExtrema(const WindowExtremaJob &job) {
  if (job.nanWins)
    job.isLargest ? meetTaps<T, P, true, true>(job) : meetTaps<T, P, false, true>(job);
  else
    job.isLargest ? meetTaps<T, P, true, false>(job) : meetTaps<T, P, false, false>(job);
}

} // namespace

void addWindowExtrema(IsaKernels &table) {
  // In the order of DType, as reductions have it.
  table.windowExtrema[3] = &windowExtrema<int32_t, int32_t>;
  table.windowExtrema[4] = &windowExtrema<int64_t, int64_t>;
  table.windowExtrema[11] = &windowExtrema<float, int32_t>;
  table.windowExtrema[12] = &windowExtrema<double, int64_t>;
}

} // namespace torchere::cpu::TORCHERE_ISA
