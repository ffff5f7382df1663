// The tiles of matrix products: sums in registers.
#pragma once

#include "cpu/kernels/isa/activation.h"
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {

// Accumulators, a row of B and one element of A fill the registers.
#if defined(TORCHERE_WIDE_VECTORS) || defined(__aarch64__)
constexpr int kRegisters = 32;
constexpr int kRows[kMaxTileVectors + 1] = {0, 14, 14, 9, 7};
#else
constexpr int kRegisters = 16;
constexpr int kRows[kMaxTileVectors + 1] = {0, 12, 6, 4, 0};
#endif

template <class C> constexpr bool kIsFloat = C(1) / C(2) != C(0);
template <class T> constexpr bool kIsF32 = false;
template <> constexpr bool kIsF32<float> = true;
template <class T> constexpr bool kIsBytePair = false;
template <> constexpr bool kIsBytePair<I8Pair> = true;
template <> constexpr bool kIsBytePair<U8Pair> = true;
template <class T> constexpr bool kIsDots = false;
template <> constexpr bool kIsDots<BF16Dots> = true;

/// Elements of A, of the type that is computed in, that a step multiplies.
template <class T> constexpr int kStepElements = 1;
template <> constexpr int kStepElements<BF16Pair> = 2;

template <class C, int kM, int kN, class Fn> TORCHERE_INLINE void eachSum(Vec<C> (&sums)[kM][kN], Fn fn) {
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m)
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n)
      sums[m][n] = fn(sums[m][n]);
}

/// `T` is B's type: others than f32 are rare enough for less code.
template <class T, int kM, int kN>
TORCHERE_INLINE void activateSums(Activation activation, Vec<Compute<T>> (&sums)[kM][kN]) {
  using C = Compute<T>;
  if (activation == Activation::None)
    return;
  if (activation == Activation::Relu) // the most frequent one before the others, which need more branches
    return eachSum<C, kM, kN>(sums, [](Vec<C> v) { return v < 0 ? Vec<C>{} : v; });
  if constexpr (kIsF32<T>)
    withTileActivation(activation,
                       [&](auto fn) __attribute__((always_inline)) { eachSum<C, kM, kN>(sums, fn); });
}

/// Whether multiply-adds read the last vector of B's row, which has no register, themselves. If they spread
/// A's elements, each would load one, and a core loads no more in a cycle than it multiplies.
#if defined(__AVX512F__)
template <int kM, int kN> constexpr bool kReadsLast = kM * kN + kN == kRegisters;
#else
template <int kM, int kN> constexpr bool kReadsLast = false;
#endif

/// The rows of A that a tile multiplies, from an element of the first one on. `kInPlace`: the sums stay in
/// their registers. Else B may be read by the multiply-adds themselves, which is best where it comes from
/// memory.
template <class C, int kM, bool kInPlace> struct TileRows {
  const C *first;
  int64_t stride;

  TORCHERE_INLINE TileRows(const C *first, int64_t stride) : first(first), stride(stride) {}
  template <int kRow, int kElement> TORCHERE_INLINE Vec<C> element() const {
    return splat(first[kRow * stride + kElement]);
  }
  TORCHERE_INLINE void advance(int64_t elements) { first += elements; }
  /// Between steps of straight code: or the addresses of all are computed in advance, which takes registers.
  TORCHERE_INLINE void separateSteps() { asm("" : "+r"(first)); }
};

/// A row of sums: += a w, of the element of A.
template <int kRow, int kElement, class C, int kM, int kN, bool kInPlace>
TORCHERE_INLINE void addRow(Vec<C> (&sums)[kN], const TileRows<C, kM, kInPlace> &a, const Vec<C> (&w)[kN],
                            const void *) {
  Vec<C> x = a.template element<kRow, kElement>();
#pragma GCC unroll 4
  for (int n = 0; n < kN; ++n)
    sums[n] += x * w[n];
}

#if defined(__AVX512F__) || (defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS))
/// An address is the sum of two registers, one of them once or twice, and a constant: every second or third
/// row has a pointer, and no instruction computes addresses. A pointer to two rows is quicker where there are
/// registers for so many.
template <int kM> struct TileRows<float, kM, true> {
  static constexpr int kOfPointer = kM <= 6 ? 2 : 3, kPointers = (kM + kOfPointer - 1) / kOfPointer;
  const float *pointers[kPointers];
  int64_t stride; ///< bytes

  TORCHERE_INLINE TileRows(const float *first, int64_t stride) : stride(stride * sizeof(float)) {
#pragma GCC unroll 8
    for (int i = 0; i < kPointers; ++i)
      pointers[i] = first + i * kOfPointer * stride;
  }
  TORCHERE_INLINE void advance(int64_t elements) {
#pragma GCC unroll 8
    for (int i = 0; i < kPointers; ++i)
      pointers[i] += elements;
  }
  TORCHERE_INLINE void separateSteps() {}
};

#define TORCHERE_ADD(n) "\n\tvfmadd231ps %[w" #n "], %[x], %[sum" #n "]"
#define TORCHERE_SUM(n) [sum##n] "+v"(sums[n])
#define TORCHERE_FACTOR(n) [w##n] "v"(w[n])
#define TORCHERE_ADD_ROW(ADDRESS)                                                                            \
  if constexpr (kReadsLast<kM, kN>) {                                                                        \
    static_assert(kN == 4);                                                                                  \
    asm("vbroadcastss " ADDRESS ", %[x]" TORCHERE_ADD(0) TORCHERE_ADD(1) TORCHERE_ADD(2) TORCHERE_ADD(3)     \
        : TORCHERE_SUM(0), TORCHERE_SUM(1), TORCHERE_SUM(2), TORCHERE_SUM(3), [x] "=&v"(x)                   \
        : TORCHERE_FACTOR(0), TORCHERE_FACTOR(1), TORCHERE_FACTOR(2), [w3] "m"(*last), TORCHERE_ELEMENT);    \
  } else if constexpr (kN == 1) {                                                                            \
    asm("vbroadcastss " ADDRESS ", %[x]" TORCHERE_ADD(0)                                                     \
        : TORCHERE_SUM(0), [x] "=&v"(x)                                                                      \
        : TORCHERE_FACTOR(0), TORCHERE_ELEMENT);                                                             \
  } else if constexpr (kN == 2) {                                                                            \
    asm("vbroadcastss " ADDRESS ", %[x]" TORCHERE_ADD(0) TORCHERE_ADD(1)                                     \
        : TORCHERE_SUM(0), TORCHERE_SUM(1), [x] "=&v"(x)                                                     \
        : TORCHERE_FACTOR(0), TORCHERE_FACTOR(1), TORCHERE_ELEMENT);                                         \
  } else if constexpr (kN == 3) {                                                                            \
    asm("vbroadcastss " ADDRESS ", %[x]" TORCHERE_ADD(0) TORCHERE_ADD(1) TORCHERE_ADD(2)                     \
        : TORCHERE_SUM(0), TORCHERE_SUM(1), TORCHERE_SUM(2), [x] "=&v"(x)                                    \
        : TORCHERE_FACTOR(0), TORCHERE_FACTOR(1), TORCHERE_FACTOR(2), TORCHERE_ELEMENT);                     \
  } else {                                                                                                   \
    static_assert(kN == 4);                                                                                  \
    asm("vbroadcastss " ADDRESS ", %[x]" TORCHERE_ADD(0) TORCHERE_ADD(1) TORCHERE_ADD(2) TORCHERE_ADD(3)     \
        : TORCHERE_SUM(0), TORCHERE_SUM(1), TORCHERE_SUM(2), TORCHERE_SUM(3), [x] "=&v"(x)                   \
        : TORCHERE_FACTOR(0), TORCHERE_FACTOR(1), TORCHERE_FACTOR(2), TORCHERE_FACTOR(3), TORCHERE_ELEMENT); \
  }
#define TORCHERE_ELEMENT                                                                                     \
  [from] "r"(from), [stride] "r"(a.stride), [bytes] "i"(bytes), "m"(*(const float (*)[])from)

/// Where GCC chooses among the forms of the instruction, it writes results over factors, and it loads
/// elements of several rows in advance. It then runs out of registers: sums go through memory from block to
/// block, which takes longer than a block's multiply-adds.
template <int kRow, int kElement, int kM, int kN>
TORCHERE_INLINE void addRow(F (&sums)[kN], const TileRows<float, kM, true> &a, const F (&w)[kN],
                            const float *b) {
  [[maybe_unused]] auto last = reinterpret_cast<const VectorOf<float>::Unaligned *>(b + (kN - 1) * kLanes);
  constexpr int bytes = kElement * sizeof(float);
  constexpr int ofPointer = TileRows<float, kM, true>::kOfPointer, row = kRow % ofPointer;
  const float *from = a.pointers[kRow / ofPointer];
  [[maybe_unused]] F x;
  if constexpr (row == 0) {
    TORCHERE_ADD_ROW("%c[bytes](%[from])")
  } else if constexpr (row == 1) {
    TORCHERE_ADD_ROW("%c[bytes](%[from],%[stride])")
  } else {
    TORCHERE_ADD_ROW("%c[bytes](%[from],%[stride],2)")
  }
}
#undef TORCHERE_ADD
#undef TORCHERE_SUM
#undef TORCHERE_FACTOR
#undef TORCHERE_ADD_ROW
#undef TORCHERE_ELEMENT
#endif

/// sums += a w, an outer product of an element of each row of A and the row of B that begins at `b`.
template <class T, int kM, int kN, bool kInPlace, int kElement, int kRow = 0>
TORCHERE_INLINE void addOuterProduct(Vec<Compute<T>> (&sums)[kM][kN],
                                     const TileRows<Compute<T>, kM, kInPlace> &a,
                                     const Vec<Compute<T>> (&w)[kN], const T *b) {
  if constexpr (kIsBytePair<T> || kIsDots<T>) {
    Vec<Compute<T>> x = a.template element<kRow, kElement>();
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n)
      if constexpr (kIsBytePair<T>)
        sums[kRow][n] = addPairProducts(sums[kRow][n], x, w[n]);
      else
        addDots(sums[kRow][n], x, w[n]);
  } else {
    addRow<kRow, kElement>(sums[kRow], a, w, b);
  }
  if constexpr (kRow + 1 < kM)
    addOuterProduct<T, kM, kN, kInPlace, kElement, kRow + 1>(sums, a, w, b);
}

/// One step: of one k, or of two in pairs.
template <class T, int kM, int kN, bool kInPlace, int kStep = 0>
TORCHERE_INLINE void addProducts(Vec<Compute<T>> (&sums)[kM][kN], const TileRows<Compute<T>, kM, kInPlace> &a,
                                 const T *b) {
  using C = Compute<T>;
  constexpr int element = kStep * kStepElements<T>;
  Vec<C> w[kN];
  if constexpr (kStepElements<T> == 2) {
    U pairs[kN];
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n) {
      pairs[n] = loadPairs(b + n * kLanes);
      w[n] = firstOfPairs(pairs[n]);
    }
    addOuterProduct<T, kM, kN, kInPlace, element>(sums, a, w, b);
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n)
      w[n] = secondOfPairs(pairs[n]);
    addOuterProduct<T, kM, kN, kInPlace, element + 1>(sums, a, w, b);
  } else {
    constexpr int inRegisters = kInPlace && kReadsLast<kM, kN> ? kN - 1 : kN;
#pragma GCC unroll 4
    for (int n = 0; n < inRegisters; ++n)
      w[n] = widen(b + n * kLanesOf<C>);
    addOuterProduct<T, kM, kN, kInPlace, element>(sums, a, w, b);
  }
}

/// Small tiles take several steps of k at once: a sum alone waits for the one before it.
template <class T, int kM, int kN, int kWays>
TORCHERE_INLINE void addProductsByWays(Vec<Compute<T>> (&sums)[kM][kN], const Compute<T> *a,
                                       int64_t aRowStride, const T *b, int64_t bRowStride, int64_t depth) {
  using C = Compute<T>;
  Vec<C> parts[kWays][kM][kN] = {};
  int64_t k = 0;
  for (; k + kWays <= depth; k += kWays, b += kWays * bRowStride)
#pragma GCC unroll 4
    for (int way = 0; way < kWays; ++way)
      addProducts<T, kM, kN, false>(parts[way], {a + (k + way) * kStepElements<T>, aRowStride},
                                    b + way * bRowStride);
  for (; k < depth; ++k, b += bRowStride)
    addProducts<T, kM, kN, false>(parts[0], {a + k * kStepElements<T>, aRowStride}, b);
#pragma GCC unroll 4
  for (int way = 0; way < kWays; ++way)
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m)
#pragma GCC unroll 4
      for (int n = 0; n < kN; ++n)
        sums[m][n] += parts[way][m][n];
}

/// Where each vector of a tile lies: body(pointer, m, n). One address follows from the one before: the
/// compiler would compute all of them in advance, and store what has no register.
template <int kM, int kN, class P, class Body>
TORCHERE_INLINE void eachPlace(P *first, int64_t rowStride, int64_t vectorStride, Body body) {
#pragma GCC unroll 4
  for (int n = 0; n < kN; ++n, first += vectorStride) {
    P *p = first;
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m, p += rowStride) {
      asm("" : "+r"(p));
      body(p, m, n);
    }
  }
}

/// What the tile reads and writes at its end, which lies in memory: it comes while the products are summed.
template <class C, int kM, int kN>
TORCHERE_INLINE void fetchResults(const TileArgs &args, const C *c, const C *residual) {
  eachPlace<kM, kN>(c, args.cRowStride, args.cVectorStride,
                    [](const C *p, int, int) { __builtin_prefetch(p, 1); });
  if (residual)
    eachPlace<kM, kN>(residual, args.residualRowStride, args.residualVectorStride,
                      [](const C *p, int, int) { __builtin_prefetch(p); });
}

/// Whether results that are but written are fetched as well. AVX2's tiles are so small that it costs them a
/// part in a hundred, more than the stores then wait.
#if defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS) && !defined(__AVX512F__)
constexpr bool kFetchesWritten = false;
#else
constexpr bool kFetchesWritten = true;
#endif

/// Whether sums, a row of B and an element of A have registers, or all but a vector of B that multiply-adds
/// read. Else they read B's vectors themselves.
template <int kM, int kN> constexpr bool kAllInPlace = kM * kN + kN + 1 <= kRegisters || kReadsLast<kM, kN>;

/// As many lines of the cache as a step's row of B takes. Where there are many tiles to a panel, a step's
/// part of the memory ahead is less than a line: those behind it come early.
template <int kN> TORCHERE_INLINE void fetchLines(const char *first) {
  constexpr int kLineBytes = 64, kLines = kN * kVectorBytes / kLineBytes;
#pragma GCC unroll 4
  for (int line = 0; line < (kLines < 1 ? 1 : kLines); ++line)
    __builtin_prefetch(first + line * kLineBytes, 0, 2);
}

constexpr int kStraightSteps = 8;
/// Steps of a block: a number of them, any, or a multiple of kStraightSteps.
constexpr int kAnyDepth = 0, kEvenDepth = -1;

/// Steps of straight code, whose B has no gaps between rows.
template <class T, int kM, int kN, int kDepth, int kStep = 0>
TORCHERE_INLINE void addSteps(Vec<Compute<T>> (&sums)[kM][kN],
                              TileRows<Compute<T>, kM, kAllInPlace<kM, kN>> a, const T *b, const char *&ahead,
                              int64_t aheadStep) {
  addProducts<T, kM, kN, kAllInPlace<kM, kN>, kStep>(sums, a, b + kStep * kN * kLanesOf<Compute<T>>);
  if constexpr (kDepth >= 8) { // the weights of a few channels are in the cache
    fetchLines<kN>(ahead);
    ahead += aheadStep;
    asm("" : "+r"(ahead));
  }
  a.separateSteps();
  if constexpr (kStep + 1 < kDepth)
    addSteps<T, kM, kN, kDepth, kStep + 1>(sums, a, b, ahead, aheadStep);
}

/// Where a block of A begins, and, unless blocks follow each other there, of B. What is needed soon is
/// fetched.
template <class T, int kM, bool kAreRegular>
TORCHERE_INLINE const Compute<T> *beginBlock(const TileArgs &args, const Compute<T> *from, int64_t aAhead,
                                             int64_t block, const T *&b) {
  using C = Compute<T>;
  const C *a = from + (kAreRegular || args.aOffsets ? args.aOffsets[block] : 0);
  if (!kAreRegular && args.bOffsets)
    b = static_cast<const T *>(args.b) + args.bOffsets[block];
  if (kAreRegular || aAhead != 0 || args.blocksAhead > 0) {
    const C *soon = from + aAhead + args.aOffsets[block + args.blocksAhead];
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m)
      __builtin_prefetch(soon + m * args.aRowStride);
  }
  return a;
}

/// The products of all blocks of a tile, of `kDepth` steps each. `kAreRegular`: all blocks are whole, with
/// offsets in A, and follow each other in B: each branch in a block takes about one percent.
template <class T, int kM, int kN, int kDepth, bool kAreRegular>
TORCHERE_INLINE void sumBlocks(const TileArgs &args, const Compute<T> *from, int64_t aAhead,
                               const char *&ahead, Vec<Compute<T>> (&sums)[kM][kN]) {
  using C = Compute<T>;
  const T *b = static_cast<const T *>(args.b);
  const int64_t aRow = args.aRowStride, bRow = args.bRowStride, depth = args.k;
  const int64_t aheadStep = args.aheadStep;
  const int64_t wholeBlocks = args.blocks - args.halfBlocks;
  // What lies behind half a block may be another group's. Their straight code has a loop of its own.
  constexpr bool hasHalves = kDepth == kLanes && !kAreRegular;
  const int64_t blocks = hasHalves ? wholeBlocks : args.blocks;
  for (int64_t block = 0; block < blocks; ++block) {
    const C *a = beginBlock<T, kM, kAreRegular>(args, from, aAhead, block, b);
    int64_t wholeLeft = wholeBlocks - block;
    if constexpr (!kAreRegular) // or the compiler makes two loops, whose sums go through memory in between
      asm("" : "+r"(wholeLeft));
    [[maybe_unused]] const int64_t steps = wholeLeft > 0 ? depth : depth / 2;
    if constexpr (kM * kN < 8) {
      addProductsByWays<T, kM, kN, (kM * kN < 4 ? 4 : 2)>(sums, a, aRow, b, bRow, steps);
      b += depth * bRow;
    } else if constexpr (kDepth == kEvenDepth) {
      TileRows<C, kM, kAllInPlace<kM, kN>> rows(a, aRow);
      for (int64_t k = 0; k < steps; k += kStraightSteps) {
        addSteps<T, kM, kN, kStraightSteps>(sums, rows, b, ahead, aheadStep);
        rows.advance(kStraightSteps * kStepElements<T>);
        b += kStraightSteps * kN * kLanesOf<C>;
      }
      b += (depth - steps) * bRow;
    } else if constexpr (kDepth > 0) {
      addSteps<T, kM, kN, kDepth>(sums, {a, aRow}, b, ahead, aheadStep);
      b += kDepth * kN * kLanesOf<C>;
    } else {
#pragma GCC unroll 2
      for (int64_t k = 0; k < steps; ++k) {
        addProducts<T, kM, kN, false>(sums, {a + k * kStepElements<T>, aRow}, b + k * bRow);
        fetchLines<kN>(ahead);
        ahead += aheadStep;
      }
      b += depth * bRow;
    }
  }
  if constexpr (hasHalves)
    for (int64_t block = wholeBlocks; block < args.blocks; ++block) {
      const C *a = beginBlock<T, kM, kAreRegular>(args, from, aAhead, block, b);
      addSteps<T, kM, kN, kDepth / 2>(sums, {a, aRow}, b, ahead, aheadStep);
      b += kDepth * kN * kLanesOf<C>;
    }
}

/// The epilogue: sums to C.
template <class T, int kM, int kN>
TORCHERE_INLINE void finishSums(const TileArgs &args, Compute<T> *c, const Compute<T> *residual,
                                Vec<Compute<T>> (&sums)[kM][kN]) {
  using C = Compute<T>;
  // Chunks are summed on their own first: the error grows with their number and length, not with the product.
  if (args.accumulate)
    eachPlace<kM, kN>(c, args.cRowStride, args.cVectorStride,
                      [&](const C *p, int m, int n)
                          __attribute__((always_inline)) { sums[m][n] += load(p); });
  if (residual)
    eachPlace<kM, kN>(residual, args.residualRowStride, args.residualVectorStride,
                      [&](const C *p, int m, int n)
                          __attribute__((always_inline)) { sums[m][n] += load(p); });
  if constexpr (kIsFloat<C>)
    activateSums<T, kM, kN>(args.activation, sums);
  eachPlace<kM, kN>(c, args.cRowStride, args.cVectorStride,
                    [&](C *p, int m, int n) __attribute__((always_inline)) { store(p, sums[m][n]); });
}

/// What the two kinds of runs below have in common.
template <class T, int kM, int kN, int kDepth, bool kAreRegular>
TORCHERE_INLINE void sumTiles(const TileArgs &args) {
  using C = Compute<T>;
  const C *a = static_cast<const C *>(args.a), *residual = static_cast<const C *>(args.residual);
  C *c = static_cast<C *>(args.c);
  const char *ahead = static_cast<const char *>(args.ahead ? args.ahead : args.b);
  for (int64_t i = 0; i < args.tiles; ++i) {
    Vec<C> sums[kM][kN];
    // Sums begin with the bias, which saves as many sums at the end.
    const C *bias = static_cast<const C *>(args.bias);
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n) {
      Vec<C> shift = bias ? load(bias + n * kLanesOf<C>) : Vec<C>{};
#pragma GCC unroll 16
      for (int m = 0; m < kM; ++m)
        sums[m][n] = shift;
    }
    if (kFetchesWritten || args.accumulate || residual)
      fetchResults<C, kM, kN>(args, c, residual);
    sumBlocks<T, kM, kN, kDepth, kAreRegular>(args, a, i + 1 < args.tiles ? args.aAhead : args.lastAhead,
                                              ahead, sums);
    finishSums<T, kM, kN>(args, c, residual, sums);
    a += kM * args.aRowStride;
    c += kM * args.cRowStride;
    if (residual)
      residual += kM * args.residualRowStride;
  }
}

/// A run of tiles. `T` is B's type.
template <class T, int kM, int kN, int kDepth> void tileRun(const TileArgs &args) {
  sumTiles<T, kM, kN, kDepth, false>(args);
}

/// Likewise, whose blocks are regular. As far as the compiler knows, results may overwrite what is given, but
/// not a copy, which saves more than it costs where there are several tiles.
template <class T, int kM, int kN, int kDepth> void regularTileRun(const TileArgs &given) {
  const TileArgs args = given;
  sumTiles<T, kM, kN, kDepth, true>(args);
}

/// Blocks of a vector of channels are straight code, as are rows of windows of 3, 4 and 7 pixels on planes,
/// with which models begin.
template <class T, int kM, int kN> void tile(const TileArgs &args) {
  if constexpr (kIsF32<T> && kM * kN >= 8 && kAllInPlace<kM, kN>)
    if (args.bRowStride == kN * kLanes) {
      if (args.k == kLanes && args.aOffsets && !args.bOffsets && args.halfBlocks == 0)
        return regularTileRun<T, kM, kN, kLanes>(args);
      if constexpr (kLanes <= kStraightSteps) // half of more is even
        if (args.k == kLanes)
          return tileRun<T, kM, kN, kLanes>(args);
      if (args.k == 3)
        return tileRun<T, kM, kN, 3>(args);
      if (args.k == 4)
        return tileRun<T, kM, kN, 4>(args);
      if (args.k == 7)
        return tileRun<T, kM, kN, 7>(args);
      if (args.k % kStraightSteps == 0)
        return tileRun<T, kM, kN, kEvenDepth>(args);
    }
  tileRun<T, kM, kN, kAnyDepth>(args);
}

template <class T, int kN, int kM> void addTiles(IsaKernels &table, int type) {
  table.tiles[type][kN][kM] = &tile<T, kM, kN>;
  if constexpr (kM > 1)
    addTiles<T, kN, kM - 1>(table, type);
}

/// Of B's types of 16 bits and less.
template <class T> void addNarrowTiles(IsaKernels &table, int type) {
  addTiles<T, 1, kRows[1]>(table, type);
  addTiles<T, 2, kRows[2]>(table, type);
}

} // namespace torchere::cpu::TORCHERE_ISA
