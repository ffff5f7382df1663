// Extreme elements of columns, with the rows that they lie in.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// `P` is the signed integer of T's size.
template <class T, class P, bool kIsLargest> void extremaAcross(const ExtremaJob &job) {
  constexpr int64_t lanes = kLanesOf<T>;
  const T *x = static_cast<const T *>(job.input);
  T *values = static_cast<T *>(job.values);
  P *places = static_cast<P *>(job.places);
  int64_t column = 0;
  for (; column + lanes <= job.columns; column += lanes) {
    Vec<T> best = load(x + column);
    Vec<P> place{}, row{};
    for (int64_t i = 1; i < job.rows; ++i) {
      Vec<T> next = load(x + i * job.rowStride + column);
      row += 1;
      // NaN wins, but over no NaN.
      Vec<P> wins = (kIsLargest ? next > best : next < best) | ((next != next) & (best == best));
      best = wins ? next : best;
      place = wins ? row : place;
    }
    store(values + column, best);
    store(places + column, place);
  }
  for (; column < job.columns; ++column) {
    T best = x[column];
    P place = 0;
    for (int64_t i = 1; i < job.rows; ++i) {
      T next = x[i * job.rowStride + column];
      if ((kIsLargest ? next > best : next < best) || (next != next && best == best)) {
        best = next;
        place = static_cast<P>(i);
      }
    }
    values[column] = best;
    places[column] = place;
  }
}

template <class T, class P> void extrema(const ExtremaJob &job) {
  job.isLargest ? extremaAcross<T, P, true>(job) : extremaAcross<T, P, false>(job);
}

} // namespace

void addExtrema(IsaKernels &table) {
  // In the order of DType, as reductions have it.
  table.extremaAcross[3] = &extrema<int32_t, int32_t>;
  table.extremaAcross[4] = &extrema<int64_t, int64_t>;
  table.extremaAcross[11] = &extrema<float, int32_t>;
  table.extremaAcross[12] = &extrema<double, int64_t>;
}

} // namespace torchere::cpu::TORCHERE_ISA
