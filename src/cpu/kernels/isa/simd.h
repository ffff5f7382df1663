// Vectors of the instruction set that this file is compiled for, as the compiler's vector extension has them.
//
// Everything below isa/ is compiled once for each ISA, in a namespace of its own (TORCHERE_ISA). It includes
// nothing with inline functions of other namespaces: the linker keeps one copy of those, and it might be one
// that the processor cannot run.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

// TORCHERE_EMULATE_AVX512 compiles the AVX-512 kernels for AVX2: the same vectors, without intrinsics.
#if defined(__AVX512F__) || defined(TORCHERE_EMULATED_AVX512)
#define TORCHERE_WIDE_VECTORS
#endif

#define TORCHERE_INLINE inline __attribute__((always_inline))

namespace torchere::cpu::TORCHERE_ISA {

#if defined(TORCHERE_WIDE_VECTORS)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
constexpr int kLanes = kVectorBytes / 4; ///< of f32

template <class T> constexpr int kLanesOf = kVectorBytes / static_cast<int>(sizeof(T));

template <class T, int kBytes = kVectorBytes> struct VectorOf {
  typedef T Type __attribute__((vector_size(kBytes)));
  typedef T Unaligned __attribute__((vector_size(kBytes), aligned(1), may_alias));
};
template <class T> using Vec = typename VectorOf<T>::Type;

using F = Vec<float>;
using I = Vec<int32_t>;
using U = Vec<uint32_t>;

/// Types of 16 bits that only lie in memory.
struct BF16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};
/// Two that follow each other along k, the first in the lower half.
struct BF16Pair {
  uint32_t bits;
};
/// Such a pair of B whose factor of A is a pair as well.
struct BF16Dots {
  uint32_t bits;
};
struct I8Pair {
  uint16_t bits;
};
struct U8Pair {
  uint16_t bits;
};

template <class T> TORCHERE_INLINE Vec<T> load(const T *p) {
  return *reinterpret_cast<const typename VectorOf<T>::Unaligned *>(p);
}
template <class T> TORCHERE_INLINE void store(T *p, Vec<T> v) {
  *reinterpret_cast<typename VectorOf<T>::Unaligned *>(p) = v;
}
template <class T> TORCHERE_INLINE Vec<T> splat(T x) {
  return x - Vec<T>{};
}
/// 0, 1, 2 ...
TORCHERE_INLINE I laneNumbers() {
  I v;
  for (int i = 0; i < kLanes; ++i)
    v[i] = i;
  return v;
}
/// The first `n` elements, zeros after them.
template <class T> TORCHERE_INLINE Vec<T> loadPart(const T *p, int64_t n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Vec<T>)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  if constexpr (sizeof(T) == 4)
    return (Vec<T>)_mm256_maskload_ps(reinterpret_cast<const float *>(p),
                                      (__m256i)(laneNumbers() < static_cast<int>(n)));
#endif
  Vec<T> v{};
  memcpy(&v, p, n * sizeof(T));
  return v;
}
template <class T> TORCHERE_INLINE void storePart(T *p, Vec<T> v, int64_t n) {
  memcpy(p, &v, n * sizeof(T));
}

TORCHERE_INLINE I asInt(F v) {
  return (I)v;
}
TORCHERE_INLINE F asFloat(I v) {
  return (F)v;
}

TORCHERE_INLINE float bitsToFloat(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
TORCHERE_INLINE uint32_t floatToBits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}

// Conversions of one element: to nearest even, NaN quiet.
TORCHERE_INLINE float toFloat(float x) {
  return x;
}
TORCHERE_INLINE double toFloat(double x) {
  return x;
}
TORCHERE_INLINE float toFloat(BF16 x) {
  return bitsToFloat(static_cast<uint32_t>(x.bits) << 16);
}
TORCHERE_INLINE float toFloat(F16 x) {
  uint32_t sign = (x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu;
  if (rest >= 0x7c00u)
    return bitsToFloat(sign | 0x7f800000u | (rest << 13));
  // Scaled by a power of two, which also makes denormals right.
  float magnitude = bitsToFloat(rest << 13) * bitsToFloat(0x77800000u);
  return bitsToFloat(sign | floatToBits(magnitude));
}
template <class T> TORCHERE_INLINE T fromFloat(float x);
template <> TORCHERE_INLINE float fromFloat<float>(float x) {
  return x;
}
template <> TORCHERE_INLINE BF16 fromFloat<BF16>(float x) {
  uint32_t bits = floatToBits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16)};
}
template <> TORCHERE_INLINE F16 fromFloat<F16>(float x) {
  uint32_t bits = floatToBits(x), sign = (bits >> 16) & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u)
    return {static_cast<uint16_t>(sign | 0x7e00u | ((rest >> 13) & 0x3ffu))};
  if (rest >= 0x477ff000u) // rounds to 65536 or more
    return {static_cast<uint16_t>(sign | 0x7c00u)};
  if (rest < 0x38800000u) { // denormal: the addition rounds at the last bit of f16
    uint32_t rounded = floatToBits(bitsToFloat(rest) + 0.5f) - 0x3f000000u;
    return {static_cast<uint16_t>(sign | rounded)};
  }
  uint32_t rounded = rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1);
  return {static_cast<uint16_t>(sign | (rounded >> 13))};
}

// A vector of f32 from and to memory of either type.
TORCHERE_INLINE F loadFloats(const float *p) {
  return load(p);
}
// GCC converts vectors of 16 bits by their halves.
TORCHERE_INLINE F loadFloats(const BF16 *p) {
#if defined(__AVX512F__)
  U wide = (U)_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
#elif defined(__F16C__)
  U wide = (U)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
#else
  typedef uint16_t Half __attribute__((vector_size(kVectorBytes / 2), aligned(1), may_alias));
  U wide = __builtin_convertvector(*reinterpret_cast<const Half *>(p), U);
#endif
  return (F)(wide << 16);
}
TORCHERE_INLINE F loadFloats(const F16 *p) {
#if defined(__AVX512F__)
  return (F)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
#elif defined(__F16C__)
  return (F)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
#else
  F v;
  for (int i = 0; i < kLanes; ++i)
    v[i] = toFloat(p[i]);
  return v;
#endif
}
TORCHERE_INLINE void storeFloats(float *p, F v) {
  store(p, v);
}
/// The bits of the nearest BF16, in the lower halves.
TORCHERE_INLINE U nearestBF16(F v) {
  U bits = (U)v;
  U rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return v != v ? (bits >> 16) | 0x40u : rounded;
}
TORCHERE_INLINE void storeFloats(BF16 *p, F v) {
  U rounded = nearestBF16(v);
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), _mm512_cvtepi32_epi16((__m512i)rounded));
#elif defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i *>(p),
                   _mm_packus_epi32(_mm256_castsi256_si128((__m256i)rounded),
                                    _mm256_extracti128_si256((__m256i)rounded, 1)));
#else
  typedef uint16_t Half __attribute__((vector_size(kVectorBytes / 2), aligned(1), may_alias));
  *reinterpret_cast<Half *>(p) = __builtin_convertvector(rounded, Half);
#endif
}
TORCHERE_INLINE void storeFloats(F16 *p, F v) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), _mm512_cvtps_ph((__m512)v, 0));
#elif defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i *>(p), _mm256_cvtps_ph((__m256)v, 0));
#else
  for (int i = 0; i < kLanes; ++i)
    p[i] = fromFloat<F16>(v[i]);
#endif
}
template <class T> TORCHERE_INLINE F loadFloatsPart(const T *p, int64_t n) {
  T buffer[kLanes] = {};
  memcpy(buffer, p, n * sizeof(T));
  return loadFloats(buffer);
}
template <class T> TORCHERE_INLINE void storeFloatsPart(T *p, F v, int64_t n) {
  T buffer[kLanes];
  storeFloats(buffer, v);
  memcpy(p, buffer, n * sizeof(T));
}
// The same by the name that f64 has too.
template <class T> struct ComputeOf {
  using Type = float;
};
template <> struct ComputeOf<double> {
  using Type = double;
};
// Integers, signed or not: products and sums are modulo their size.
template <> struct ComputeOf<uint32_t> {
  using Type = uint32_t;
};
template <> struct ComputeOf<uint64_t> {
  using Type = uint64_t;
};
// Pairs of bytes are widened to pairs of 16 bits, whose products are summed by twos.
template <> struct ComputeOf<I8Pair> {
  using Type = uint32_t;
};
template <> struct ComputeOf<U8Pair> {
  using Type = uint32_t;
};
template <class T> using Compute = typename ComputeOf<T>::Type;
template <class T> TORCHERE_INLINE Vec<Compute<T>> widen(const T *p) {
  return loadFloats(p);
}
template <> TORCHERE_INLINE Vec<double> widen<double>(const double *p) {
  return load(p);
}
template <class T> TORCHERE_INLINE Vec<Compute<T>> widenPart(const T *p, int64_t n) {
  return loadFloatsPart(p, n);
}
template <> TORCHERE_INLINE Vec<double> widenPart<double>(const double *p, int64_t n) {
  return loadPart(p, n);
}
template <class T> TORCHERE_INLINE void narrow(T *p, Vec<Compute<T>> v) {
  storeFloats(p, v);
}
template <> TORCHERE_INLINE void narrow<double>(double *p, Vec<double> v) {
  store(p, v);
}
template <class T> TORCHERE_INLINE void narrowPart(T *p, Vec<Compute<T>> v, int64_t n) {
  storeFloatsPart(p, v, n);
}
template <> TORCHERE_INLINE void narrowPart<double>(double *p, Vec<double> v, int64_t n) {
  storePart(p, v, n);
}
template <> TORCHERE_INLINE Vec<uint32_t> widen<uint32_t>(const uint32_t *p) {
  return load(p);
}
template <> TORCHERE_INLINE Vec<uint32_t> widenPart<uint32_t>(const uint32_t *p, int64_t n) {
  return loadPart(p, n);
}
template <> TORCHERE_INLINE void narrow<uint32_t>(uint32_t *p, Vec<uint32_t> v) {
  store(p, v);
}
template <> TORCHERE_INLINE void narrowPart<uint32_t>(uint32_t *p, Vec<uint32_t> v, int64_t n) {
  storePart(p, v, n);
}
template <> TORCHERE_INLINE Vec<uint64_t> widen<uint64_t>(const uint64_t *p) {
  return load(p);
}
template <> TORCHERE_INLINE Vec<uint64_t> widenPart<uint64_t>(const uint64_t *p, int64_t n) {
  return loadPart(p, n);
}
template <> TORCHERE_INLINE void narrow<uint64_t>(uint64_t *p, Vec<uint64_t> v) {
  store(p, v);
}
template <> TORCHERE_INLINE void narrowPart<uint64_t>(uint64_t *p, Vec<uint64_t> v, int64_t n) {
  storePart(p, v, n);
}

TORCHERE_INLINE U loadPairs(const BF16Pair *p) {
  return load(reinterpret_cast<const uint32_t *>(p));
}
TORCHERE_INLINE F firstOfPairs(U pairs) {
  return (F)(pairs << 16);
}
TORCHERE_INLINE F secondOfPairs(U pairs) {
  return (F)(pairs & 0xffff0000u);
}

template <> TORCHERE_INLINE F widen<BF16Dots>(const BF16Dots *p) {
  return (F)load(reinterpret_cast<const uint32_t *>(p));
}
/// sum += second * second + first * first, of pairs of BF16. The instruction takes denormals for zeros.
TORCHERE_INLINE void addDots(F &sum, F a, F b) {
#if defined(__AVX512BF16__)
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
#else
  sum += secondOfPairs((U)a) * secondOfPairs((U)b);
  sum += firstOfPairs((U)a) * firstOfPairs((U)b);
#endif
}

/// Bytes to 16 bits; `T` is int8_t or uint8_t.
template <class T> TORCHERE_INLINE U widenBytes(const void *p) {
#if defined(__AVX512BW__)
  __m256i bytes = _mm256_loadu_si256(static_cast<const __m256i *>(p));
  return (U)(T(-1) < 0 ? _mm512_cvtepi8_epi16(bytes) : _mm512_cvtepu8_epi16(bytes));
#elif defined(__F16C__)
  __m128i bytes = _mm_loadu_si128(static_cast<const __m128i *>(p));
  return (U)(T(-1) < 0 ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes));
#else
  typedef T Bytes __attribute__((vector_size(kVectorBytes / 2), aligned(1), may_alias));
  return (U) __builtin_convertvector(*static_cast<const Bytes *>(p), Vec<int16_t>);
#endif
}
template <> TORCHERE_INLINE Vec<uint32_t> widen<I8Pair>(const I8Pair *p) {
  return widenBytes<int8_t>(p);
}
template <> TORCHERE_INLINE Vec<uint32_t> widen<U8Pair>(const U8Pair *p) {
  return widenBytes<uint8_t>(p);
}

/// Of pairs of signed 16 bits: first * first + second * second.
TORCHERE_INLINE U pairProducts(U a, U b) {
#if defined(__AVX512BW__)
  return (U)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__F16C__)
  return (U)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && !defined(TORCHERE_WIDE_VECTORS)
  return (U)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  I first = ((I)(a << 16) >> 16) * ((I)(b << 16) >> 16);
  return (U)(first + ((I)a >> 16) * ((I)b >> 16));
#endif
}

/// The sum of two, modulo its size.
TORCHERE_INLINE U addPairProducts(U sum, U a, U b) {
#if defined(__AVX512VNNI__)
  return (U)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#else
  return sum + pairProducts(a, b);
#endif
}

/// Of StableHLO: NaN wins, and +0 is above -0.
template <class V> TORCHERE_INLINE V maximum(V a, V b) {
  V larger = a > b ? a : b;
  return a != a ? a : larger;
}
template <class V> TORCHERE_INLINE V minimum(V a, V b) {
  V smaller = a < b ? a : b;
  return a != a ? a : smaller;
}

// a > b ? a : b and a < b ? a : b: b where one of them is NaN. GCC compares and chooses if one is a constant.
TORCHERE_INLINE F larger(F a, F b) {
#if defined(__AVX512F__)
  return (F)_mm512_maskz_max_ps(0xffff, (__m512)a, (__m512)b);
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  return (F)_mm256_max_ps((__m256)a, (__m256)b);
#else
  return a > b ? a : b;
#endif
}
TORCHERE_INLINE F smaller(F a, F b) {
#if defined(__AVX512F__)
  return (F)_mm512_maskz_min_ps(0xffff, (__m512)a, (__m512)b);
#elif defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS)
  return (F)_mm256_min_ps((__m256)a, (__m256)b);
#else
  return a < b ? a : b;
#endif
}

/// Numbers that a template can be given as lanes.
template <int... kNumbers> struct Lanes {};
template <int kCount, int... kNumbers> struct LanesBelow : LanesBelow<kCount - 1, kCount - 1, kNumbers...> {};
template <int... kNumbers> struct LanesBelow<0, kNumbers...> {
  using Type = Lanes<kNumbers...>;
};
/// Runs of `kRun` lanes, of a's and b's in turns, that begin at `kFirst` of each two runs.
template <int kRun, int kFirst, int... kNumbers> TORCHERE_INLINE F runsOf(F a, F b, Lanes<kNumbers...>) {
  return __builtin_shufflevector(
      a, b, (kNumbers / (2 * kRun) * 2 * kRun + kFirst + kNumbers % kRun + kNumbers / kRun % 2 * kLanes)...);
}
// The lanes joined, pairwise.
template <class T, class Fn> TORCHERE_INLINE T foldLanes(Vec<T> v, Fn join) {
  T lanes[kLanesOf<T>];
  memcpy(lanes, &v, sizeof(v));
  for (int width = kLanesOf<T> / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i)
      lanes[i] = join(lanes[i], lanes[i + width]);
  return lanes[0];
}
/// Of as many vectors as there are lanes, each vector's lanes joined pairwise: lane i of the first one
/// becomes the result of vector i. The others are overwritten.
template <int kRun = kLanes / 2, class Fn> TORCHERE_INLINE F foldEach(F (&v)[kLanes], Fn join) {
  using All = typename LanesBelow<kLanes>::Type;
#pragma GCC unroll 8
  for (int i = 0; i < kRun; ++i)
    v[i] = join(runsOf<kRun, 0>(v[i], v[i + kRun], All()), runsOf<kRun, kRun>(v[i], v[i + kRun], All()));
  if constexpr (kRun > 1)
    return foldEach<kRun / 2>(v, join);
  else
    return v[0];
}

} // namespace torchere::cpu::TORCHERE_ISA
