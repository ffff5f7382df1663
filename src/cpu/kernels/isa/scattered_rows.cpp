// Rows that are joined to those of a tensor at computed places.
#include "cpu/kernels/isa/joins.h"
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int64_t kRowsAhead = 8;

/// to = fn(to, from), rounded to their type.
template <class T, class Fn> TORCHERE_INLINE void joinRow(T *to, const T *from, int64_t n) {
  constexpr int64_t lanes = kLanesOf<Sum<T>>;
  Fn fn{};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if constexpr (kIsHalf<T>)
      storeFloats(to + i, fn(loadFloats(to + i), loadFloats(from + i)));
    else
      store(to + i, fn(load(to + i), load(from + i)));
  }
  for (; i < n; ++i) {
    if constexpr (kIsHalf<T>)
      to[i] = fromFloat<T>(fn(element(to[i]), element(from[i])));
    else
      to[i] = static_cast<T>(fn(to[i], from[i]));
  }
}

template <class T, class Fn> void joinRows(const JoinRowsJob &job) {
  T *tensor = static_cast<T *>(job.tensor);
  const T *from = static_cast<const T *>(job.updates);
  const auto range = static_cast<uint64_t>(job.high - job.low);
  auto isInside = [&](int64_t place) {
    return place >= job.low && static_cast<uint64_t>(place) - static_cast<uint64_t>(job.low) < range;
  };
  for (int64_t i = 0; i < job.count; ++i, from += job.updateStride) {
    if (job.ahead > 0 && i + kRowsAhead < job.count && isInside(job.places[i + kRowsAhead])) {
      const char *next = reinterpret_cast<const char *>(tensor + job.places[i + kRowsAhead] * job.rowStride);
      for (int64_t at = 0; at < job.ahead; at += 64)
        __builtin_prefetch(next + at, 1);
    }
    if (isInside(job.places[i]))
      joinRow<T, Fn>(tensor + job.places[i] * job.rowStride, from, job.columns);
  }
}

struct PutJoins {
  IsaKernels &table;
  template <class T, class Fn> void operator()(int type, int reduction, Fn) {
    table.joinRows[type][reduction] = &joinRows<T, Fn>;
  }
};

} // namespace

void addScatteredRows(IsaKernels &table) {
  JoinTable(PutJoins{table}).fill();
}

} // namespace torchere::cpu::TORCHERE_ISA
