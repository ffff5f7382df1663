// What attention does to scores, a run of keys at a time.
#include "cpu/kernels/isa/math.h"
#include "cpu/kernels/isa/parts.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr auto kLargest = [](F a, F b) { return larger(a, b); };
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

/// Masks of a row: of a vector of scores from key `j` on, and of the first `n` of one.
struct NoMask {
  static constexpr bool kChanges = false;
  TORCHERE_INLINE F whole(F v, int64_t) const { return v; }
  TORCHERE_INLINE F part(F v, int64_t, int64_t) const { return v; }
};
struct AddedMask {
  static constexpr bool kChanges = true;
  const float *mask;
  TORCHERE_INLINE F whole(F v, int64_t j) const { return v + load(mask + j); }
  TORCHERE_INLINE F part(F v, int64_t j, int64_t n) const { return v + loadPart(mask + j, n); }
};
struct SeenMask {
  static constexpr bool kChanges = true;
  const uint8_t *mask;
  TORCHERE_INLINE F whole(F v, int64_t j) const { return ofBytes(v, mask + j); }
  TORCHERE_INLINE F part(F v, int64_t j, int64_t n) const {
    uint8_t bytes[kLanes] = {};
    memcpy(bytes, mask + j, n);
    return ofBytes(v, bytes);
  }
  static TORCHERE_INLINE F ofBytes(F v, const uint8_t *bytes) {
#if defined(__AVX512F__)
    I seen = (I)_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes)));
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
    I seen = (I)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(bytes)));
#else
    I seen;
    for (int i = 0; i < kLanes; ++i)
      seen[i] = bytes[i];
#endif
    return seen != 0 ? v : splat(-kInfinity);
  }
};

/// The largest of each lane in the first `limit` scores, masked; -inf in the lanes behind them, up to a whole
/// vector.
template <class Mask> TORCHERE_INLINE F maskRow(float *s, int64_t limit, Mask mask) {
  F largest = splat(-kInfinity);
  int64_t j = 0;
  for (; j + kLanes <= limit; j += kLanes) {
    F v = mask.whole(load(s + j), j);
    if (Mask::kChanges)
      store(s + j, v);
    largest = larger(v, largest);
  }
  if (j < limit) {
    F v = mask.part(load(s + j), j, limit - j);
    v = laneNumbers() < static_cast<int>(limit - j) ? v : splat(-kInfinity);
    store(s + j, v);
    largest = larger(v, largest);
  }
  return largest;
}

F maskRowOf(const ScoresJob &job, int64_t row, float *s, int64_t limit) {
  int64_t at = row * job.maskRowStride, stride = job.maskKeyStride;
  if (stride == 1 && job.added)
    return maskRow(s, limit, AddedMask{job.added + at});
  if (stride == 1 && job.seen)
    return maskRow(s, limit, SeenMask{job.seen + at});
  for (int64_t j = 0; job.added && j < limit; ++j)
    s[j] += job.added[at + j * stride];
  for (int64_t j = 0; job.seen && j < limit; ++j)
    s[j] = job.seen[at + j * stride] ? s[j] : -kInfinity;
  return maskRow(s, limit, NoMask());
}

/// exp(score - most) of one row; their sum in each lane. Scores of -inf become 0, NaN stays.
TORCHERE_INLINE F weighRow(float *s, int64_t width, float most) {
  F sum{}, shift = splatOf(most);
  for (int64_t j = 0; j < width; j += kLanes) {
    F e = exponentialOfNegative(load(s + j) - shift);
    store(s + j, e);
    sum += e;
  }
  return sum;
}

/// A group of rows, at most as many as there are lanes: what is a number of each row is a vector.
struct RowGroup {
  int64_t first, rows;
  F shift; ///< the largest score, or 0 where there is none
  F kept;  ///< the factor of what earlier runs left
  I grows; ///< where that is not 1, and there was something
  int64_t widths[kLanes];
};

/// Masks the scores, and finds the largest.
void beginGroup(const ScoresJob &job, RowGroup &group) {
  int64_t whole = (job.keys + kLanes - 1) / kLanes * kLanes;
  F largest[kLanes];
  for (int64_t i = group.rows; i < kLanes; ++i)
    largest[i] = splat(-kInfinity);
  for (int64_t i = 0; i < group.rows; ++i) {
    int64_t row = group.first + i, limit = job.firstLimit + row * job.limitStep;
    float *s = job.scores + row * job.rowStride;
    limit = limit < 0 ? 0 : limit > job.keys ? job.keys : limit;
    // What lies behind was maybe not computed. The sums' products read zeros there.
    int64_t width = group.widths[i] = (limit + kLanes - 1) / kLanes * kLanes;
    if (width < whole)
      memset(s + width, 0, (whole - width) * sizeof(float));
    if (job.bound != 0)
      for (int64_t j = 0; j < width; j += kLanes)
        store(s + j, hyperbolicTangent(load(s + j)) * job.bound);
    largest[i] = maskRowOf(job, row, s, limit);
  }
  F before = loadPart(job.most + group.first, group.rows), most = larger(foldEach(largest, kLargest), before);
  group.shift = most == -kInfinity ? F{} : most;
  group.kept = exponentialOfNegative(before - group.shift);
  group.grows = before != -kInfinity ? group.kept != 1.0f : I{};
  storePart(job.most + group.first, most, group.rows);
}

/// Makes weights of the scores.
void endGroup(const ScoresJob &job, const RowGroup &group) {
  F sums[kLanes];
  for (int64_t i = group.rows; i < kLanes; ++i)
    sums[i] = F{};
  for (int64_t i = 0; i < group.rows; ++i)
    sums[i] = weighRow(job.scores + (group.first + i) * job.rowStride, group.widths[i], group.shift[i]);
  F total = loadPart(job.total + group.first, group.rows) * group.kept + foldEach(sums, kSum);
  storePart(job.total + group.first, total, group.rows);
  for (int64_t i = 0; i < group.rows; ++i)
    if (group.grows[i])
      scaleRow(job.sums + (group.first + i) * job.sumsStride, job.sumsStride, group.kept[i]);
}

/// In groups whose scores stay in the L1 cache between the two ways over them. The largest scores of all are
/// found before any is needed.
void scores(const ScoresJob &job) {
  constexpr int kGroups = 32 / kLanes;
  RowGroup groups[kGroups];
  for (int64_t row = 0; row < job.rows;) {
    int count = 0;
    for (; count < kGroups && row < job.rows; ++count, row += kLanes) {
      groups[count].first = row;
      groups[count].rows = job.rows - row < kLanes ? job.rows - row : kLanes;
      beginGroup(job, groups[count]);
    }
    for (int i = 0; i < count; ++i)
      endGroup(job, groups[i]);
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
