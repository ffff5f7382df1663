// Bisections of a table: four vectors of values at once, as each step waits for what it reads.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"
#include "cpu/kernels/isa/unsigned.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int kVectors = 4;

/// Integers in whose order elements are: those of floats have no sign of zero, and one NaN, above all
/// numbers.
template <int bytes> struct KeyOfSize {
  using Type = int32_t;
};
template <> struct KeyOfSize<8> {
  using Type = int64_t;
};
template <class T> using Key = typename KeyOfSize<sizeof(T)>::Type;
template <class T> constexpr bool kIsWide = sizeof(T) >= 4; ///< as wide as its key
template <class T> constexpr bool kIsFloat = false;
template <> constexpr bool kIsFloat<float> = true;
template <> constexpr bool kIsFloat<double> = true;
template <> constexpr bool kIsFloat<BF16> = true;
template <> constexpr bool kIsFloat<F16> = true;
template <class K> constexpr K kMostKey = static_cast<K>(~(uint64_t{1} << 63) >> (64 - 8 * sizeof(K)));

template <class K> struct FloatOfKey {
  using Type = float;
};
template <> struct FloatOfKey<int64_t> {
  using Type = double;
};

/// The keys of elements' bits; of narrow ones, of those of their number as a key or as an f32.
template <class T> TORCHERE_INLINE Vec<Key<T>> keysOf(Vec<Key<T>> bits) {
  using K = Key<T>;
  if constexpr (kIsFloat<T>) {
    auto numbers = (Vec<typename FloatOfKey<K>::Type>)bits;
    bits = numbers != numbers ? splat(kMostKey<K>) : numbers == 0 ? Vec<K>{} : bits;
    return bits ^ ((bits < 0) & kMostKey<K>);
  } else if constexpr (kIsWide<T> && static_cast<T>(-1) > T{}) {
    return bits ^ ~kMostKey<K>;
  } else {
    return bits;
  }
}

template <class T> TORCHERE_INLINE Key<T> bitsOf(T x) {
  if constexpr (sizeof(T) == 2 && kIsFloat<T>) {
    return static_cast<int32_t>(floatToBits(toFloat(x)));
  } else if constexpr (kIsWide<T>) {
    Key<T> bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
  } else {
    return x;
  }
}

/// The bits of table[at], lane by lane.
template <class T> TORCHERE_INLINE Vec<Key<T>> gatherBits(const T *table, Vec<Key<T>> at) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Vec<Key<T>>)_mm512_i32gather_epi32((__m512i)at, table, 4);
  else if constexpr (sizeof(T) == 8)
    return (Vec<Key<T>>)_mm512_i64gather_epi64((__m512i)at, table, 8);
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  if constexpr (sizeof(T) == 4)
    return (Vec<Key<T>>)_mm256_i32gather_epi32(reinterpret_cast<const int *>(table), (__m256i)at, 4);
  else if constexpr (sizeof(T) == 8)
    return (Vec<Key<T>>)_mm256_i64gather_epi64(reinterpret_cast<const long long *>(table), (__m256i)at, 8);
#endif
  Vec<Key<T>> bits;
  for (int lane = 0; lane < kLanesOf<Key<T>>; ++lane)
    bits[lane] = bitsOf(table[at[lane]]);
  return bits;
}

/// Of kVectors vectors of values.
template <class T, bool isStrict>
TORCHERE_INLINE void bisectVectors(const BisectionJob &job, const T *values, Key<T> *places) {
  using K = Key<T>;
  using V = Vec<K>;
  using Bits = Vec<Unsigned<K>>;
  constexpr int lanes = kLanesOf<K>;
  const T *table = static_cast<const T *>(job.table);
  const V last = splat(static_cast<K>(job.length - 1));
  V x[kVectors], low[kVectors], high[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    V bits;
    for (int lane = 0; lane < lanes; ++lane)
      bits[lane] = bitsOf(values[j * lanes + lane]);
    x[j] = keysOf<T>(bits);
    low[j] = splat(static_cast<K>(job.low));
    high[j] = splat(static_cast<K>(job.high));
  }
  for (int64_t turn = 0; turn < job.turns; ++turn)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      V middle = low[j] + (V)((Bits)(high[j] - low[j]) >> 1);
      V key = keysOf<T>(gatherBits(table, middle > last ? last : middle));
      auto isLeft = isStrict ? x[j] < key : x[j] <= key;
      low[j] = isLeft ? low[j] : middle;
      high[j] = isLeft ? middle : high[j];
    }
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j)
    store(places + j * lanes, job.isLow ? low[j] : high[j]);
}

template <class T> void bisect(const BisectionJob &job) {
  using K = Key<T>;
  constexpr int64_t group = kVectors * kLanesOf<K>;
  const T *values = static_cast<const T *>(job.values);
  for (int64_t i = 0; i < job.count; i += group) {
    int64_t n = job.count - i < group ? job.count - i : group;
    T some[group] = {};
    memcpy(some, values + i, static_cast<size_t>(n) * sizeof(T));
    K places[group];
    job.isStrict ? bisectVectors<T, true>(job, some, places) : bisectVectors<T, false>(job, some, places);
    if (job.areLong)
      for (int64_t j = 0; j < n; ++j)
        static_cast<int64_t *>(job.places)[i + j] = places[j];
    else
      for (int64_t j = 0; j < n; ++j)
        static_cast<int32_t *>(job.places)[i + j] = static_cast<int32_t>(places[j]);
  }
}

} // namespace

void addBisections(IsaKernels &table) {
  table.bisect[0] = bisect<uint8_t>; // in the order of DType
  table.bisect[1] = bisect<int8_t>;
  table.bisect[2] = bisect<int16_t>;
  table.bisect[3] = bisect<int32_t>;
  table.bisect[4] = bisect<int64_t>;
  table.bisect[5] = bisect<uint8_t>;
  table.bisect[6] = bisect<uint16_t>;
  table.bisect[7] = bisect<uint32_t>;
  table.bisect[8] = bisect<uint64_t>;
  table.bisect[9] = bisect<F16>;
  table.bisect[10] = bisect<BF16>;
  table.bisect[11] = bisect<float>;
  table.bisect[12] = bisect<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
