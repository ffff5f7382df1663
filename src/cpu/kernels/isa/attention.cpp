// What attention does to scores, a run of keys at a time.
#include "cpu/kernels/isa/math.h"
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// Leaves NaN out: what is made of the scores has it.
constexpr auto kLargest = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto kSum = [](auto a, auto b) { return a + b; };

TORCHERE_INLINE F splatOf(float x) {
  F v;
  for (int i = 0; i < kLanes; ++i)
    v[i] = x;
  return v;
}

void scaleRow(float *row, int64_t count, float factor) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(row + i, load(row + i) * factor);
  for (; i < count; ++i)
    row[i] *= factor;
}

/// 1, known to the compiler.
struct One {
  constexpr operator int64_t() const { return 1; }
};

/// -inf where a row does not see, in the first `limit` keys and the lanes up to a whole vector.
void applyMask(const ScoresJob &job, int64_t row, float *s, int64_t limit, int64_t width) {
  auto join = [&](auto stride) { // known to be 1 where it is: then these are vectors
    if (job.added) {
      const float *mask = job.added + row * job.maskRowStride;
      for (int64_t j = 0; j < limit; ++j)
        s[j] += mask[j * stride];
    } else if (job.seen) {
      const uint8_t *mask = job.seen + row * job.maskRowStride;
      for (int64_t j = 0; j < limit; ++j)
        s[j] = mask[j * stride] ? s[j] : -kInfinity;
    }
  };
  if (job.maskKeyStride == 1)
    join(One());
  else
    join(job.maskKeyStride);
  for (int64_t j = limit; j < width; ++j)
    s[j] = -kInfinity;
}

bool hasNaN(const float *s, int64_t count) {
  bool any = false;
  for (int64_t j = 0; j < count; ++j)
    any |= s[j] != s[j];
  return any;
}

void scores(const ScoresJob &job) {
  int64_t whole = (job.keys + kLanes - 1) / kLanes * kLanes;
  for (int64_t row = 0; row < job.rows; ++row) {
    float *s = job.scores + row * job.rowStride;
    int64_t limit = job.firstLimit + row * job.limitStep;
    limit = limit < 0 ? 0 : limit > job.keys ? job.keys : limit;
    // What lies behind was maybe not computed. The sums' products read zeros there.
    int64_t width = (limit + kLanes - 1) / kLanes * kLanes;
    memset(s + width, 0, (whole - width) * sizeof(float));
    if (width == 0)
      continue;
    if (job.bound != 0)
      for (int64_t j = 0; j < width; j += kLanes)
        store(s + j, hyperbolicTangent(load(s + j)) * job.bound);
    applyMask(job, row, s, limit, width);
    F largest = load(s);
    for (int64_t j = kLanes; j < width; j += kLanes)
      largest = kLargest(load(s + j), largest);
    float before = job.most[row], most = kLargest(foldLanes<float>(largest, kLargest), before);
    if (most == -kInfinity && !hasNaN(s, width)) { // nothing seen yet
      memset(s, 0, width * sizeof(float));
      continue;
    }
    F sum{};
    for (int64_t j = 0; j < width; j += kLanes) {
      F e = exponentialOfNegative(load(s + j) - most);
      store(s + j, e);
      sum += e;
    }
    float kept = before == most         ? 1.0f
                 : before == -kInfinity ? 0.0f
                                        : exponentialOfNegative(splatOf(before - most))[0];
    job.total[row] = job.total[row] * kept + foldLanes<float>(sum, kSum);
    job.most[row] = most;
    if (kept != 1)
      scaleRow(job.sums + row * job.sumsStride, job.sumsStride, kept);
  }
}

/// Of so many rows from `row` on: a key is widened once for all of them.
template <int kRows, class T> void dotsOfRows(const DotsJob &job, int64_t row) {
  const float *q[kRows];
  for (int r = 0; r < kRows; ++r)
    q[r] = job.q + (row + r) * job.qStride;
  for (int64_t key = 0; key < job.keys; ++key) {
    const T *k = static_cast<const T *>(job.k) + key * job.kStride;
    F sum[kRows] = {}, other[kRows] = {};
    int64_t i = 0;
    for (; i + 2 * kLanes <= job.size; i += 2 * kLanes) {
      F first = widen(k + i), second = widen(k + i + kLanes);
      for (int r = 0; r < kRows; ++r) {
        sum[r] += load(q[r] + i) * first;
        other[r] += load(q[r] + i + kLanes) * second;
      }
    }
    for (; i + kLanes <= job.size; i += kLanes)
      for (int r = 0; r < kRows; ++r)
        sum[r] += load(q[r] + i) * widen(k + i);
    if (i < job.size)
      for (int r = 0; r < kRows; ++r)
        other[r] += loadPart(q[r] + i, job.size - i) * widenPart(k + i, job.size - i);
    for (int r = 0; r < kRows; ++r)
      job.scores[(row + r) * job.scoresStride + key] = foldLanes<float>(sum[r] + other[r], kSum);
  }
}

template <class T> void dots(const DotsJob &job) {
  int64_t row = 0;
  for (; row + 4 <= job.rows; row += 4)
    dotsOfRows<4, T>(job, row);
  constexpr void (*rest[])(const DotsJob &, int64_t) = {&dotsOfRows<1, T>, &dotsOfRows<2, T>,
                                                        &dotsOfRows<3, T>};
  if (row < job.rows)
    rest[job.rows - row - 1](job, row);
}

} // namespace

void addAttention(IsaKernels &table) {
  table.scores = &scores;
  table.scaleRow = &scaleRow;
  table.dots[kF32] = &dots<float>;
  table.dots[kBF16] = &dots<BF16>;
  table.dots[kF16] = &dots<F16>;
}

} // namespace torchere::cpu::TORCHERE_ISA
