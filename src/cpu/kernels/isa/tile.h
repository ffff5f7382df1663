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

template <class V> TORCHERE_INLINE V positivePart(V v) {
  return v < 0 ? V{} : v;
}
template <> TORCHERE_INLINE F positivePart<F>(F v) {
  return activate<Activation::Relu>(v);
}

/// `T` is B's type: others than f32 are rare enough for less code.
template <class T, int kM, int kN>
TORCHERE_INLINE void activateSums(Activation activation, Vec<Compute<T>> (&sums)[kM][kN]) {
  using C = Compute<T>;
  if (activation == Activation::None)
    return;
  if (activation == Activation::Relu)
    return eachSum<C, kM, kN>(sums, [](Vec<C> v) { return positivePart(v); });
  if constexpr (kIsF32<T>) {
    if (activation == Activation::HardSwish)
      eachSum<C, kM, kN>(sums, [](F v) { return activate<Activation::HardSwish>(v); });
    else if (activation == Activation::Relu6)
      eachSum<C, kM, kN>(sums, [](F v) { return activate<Activation::Relu6>(v); });
    else if (activation == Activation::HardSigmoid)
      eachSum<C, kM, kN>(sums, [](F v) { return activate<Activation::HardSigmoid>(v); });
  }
}

template <class V> TORCHERE_INLINE void addInPlace(V &sum, V x, V w) {
  sum += x * w;
}
#if defined(__AVX512F__) || (defined(__AVX2__) && !defined(TORCHERE_WIDE_VECTORS))
/// Where GCC chooses among the forms of the instruction, it writes results over factors. In long straight
/// code it then runs out of registers: it stores sums, and loads rows of B again for each row of A.
template <> TORCHERE_INLINE void addInPlace<F>(F &sum, F x, F w) {
  asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
}
#endif

/// sums += a w, an outer product. `kInPlace`: each sum stays in its register. Else B may be read by the
/// multiply-adds themselves, which is best where it comes from memory.
template <class T, int kM, int kN, bool kInPlace>
TORCHERE_INLINE void addOuterProduct(Vec<Compute<T>> (&sums)[kM][kN], const Compute<T> *a, int64_t aRowStride,
                                     const Vec<Compute<T>> (&w)[kN]) {
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m) {
    Vec<Compute<T>> x = splat(a[m * aRowStride]);
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n)
      if constexpr (kIsBytePair<T>)
        sums[m][n] = addPairProducts(sums[m][n], x, w[n]);
      else if constexpr (kIsDots<T>)
        addDots(sums[m][n], x, w[n]);
      else if constexpr (kInPlace)
        addInPlace(sums[m][n], x, w[n]);
      else
        sums[m][n] += x * w[n];
  }
}

/// One step: of one k, or of two in pairs.
template <class T, int kM, int kN, bool kInPlace>
TORCHERE_INLINE void addProducts(Vec<Compute<T>> (&sums)[kM][kN], const Compute<T> *a, int64_t aRowStride,
                                 const T *b) {
  using C = Compute<T>;
  Vec<C> w[kN];
  if constexpr (kStepElements<T> == 2) {
    U pairs[kN];
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n) {
      pairs[n] = loadPairs(b + n * kLanes);
      w[n] = firstOfPairs(pairs[n]);
    }
    addOuterProduct<T, kM, kN, kInPlace>(sums, a, aRowStride, w);
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n)
      w[n] = secondOfPairs(pairs[n]);
    addOuterProduct<T, kM, kN, kInPlace>(sums, a + 1, aRowStride, w);
  } else {
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n)
      w[n] = widen(b + n * kLanesOf<C>);
    addOuterProduct<T, kM, kN, kInPlace>(sums, a, aRowStride, w);
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
      addProducts<T, kM, kN, false>(parts[way], a + (k + way) * kStepElements<T>, aRowStride,
                                    b + way * bRowStride);
  for (; k < depth; ++k, b += bRowStride)
    addProducts<T, kM, kN, false>(parts[0], a + k * kStepElements<T>, aRowStride, b);
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

/// Whether sums, a row of B and an element of A have registers. Else the multiply-adds read the element
/// themselves.
template <int kM, int kN> constexpr bool kAllInPlace = kM * kN + kN + 1 <= kRegisters;

/// The products of all blocks of a tile. Blocks of `kDepth` steps are straight code; 0: of any depth.
template <class T, int kM, int kN, int kDepth>
TORCHERE_INLINE void sumBlocks(const TileArgs &args, const Compute<T> *from, int64_t aAhead,
                               const char *&ahead, Vec<Compute<T>> (&sums)[kM][kN]) {
  using C = Compute<T>;
  const T *b = static_cast<const T *>(args.b);
  const int64_t aRow = args.aRowStride, bRow = args.bRowStride, depth = args.k;
  const int64_t aheadStep = args.aheadStep;
  const bool fetches = aAhead != 0 || args.blocksAhead > 0;
  const int64_t *offsetsAhead = args.aOffsets + args.blocksAhead;
  for (int64_t block = 0; block < args.blocks; ++block) {
    const C *a = from + (args.aOffsets ? args.aOffsets[block] : 0);
    if (args.bOffsets)
      b = static_cast<const T *>(args.b) + args.bOffsets[block];
    if (fetches) {
      const C *soon = from + aAhead + offsetsAhead[block];
#pragma GCC unroll 16
      for (int m = 0; m < kM; ++m)
        __builtin_prefetch(soon + m * aRow);
    }
    if constexpr (kM * kN < 8) {
      addProductsByWays<T, kM, kN, (kM * kN < 4 ? 4 : 2)>(sums, a, aRow, b, bRow, depth);
      b += depth * bRow;
    } else if constexpr (kDepth > 0) {
#pragma GCC unroll 16
      for (int k = 0; k < kDepth; ++k, ++a) {
        asm("" : "+r"(a)); // or the addresses of all steps are computed in advance, which takes registers
        addProducts<T, kM, kN, kAllInPlace<kM, kN>>(sums, a, aRow, b + k * kN * kLanesOf<C>);
        __builtin_prefetch(ahead, 0, 2);
        ahead += aheadStep;
        asm("" : "+r"(ahead));
      }
      b += kDepth * kN * kLanesOf<C>;
    } else {
#pragma GCC unroll 2
      for (int64_t k = 0; k < depth; ++k, b += bRow) {
        addProducts<T, kM, kN, kAllInPlace<kM, kN>>(sums, a + k * kStepElements<T>, aRow, b);
        __builtin_prefetch(ahead, 0, 2);
        ahead += aheadStep;
      }
    }
  }
}

/// The epilogue: sums to C.
template <class T, int kM, int kN>
TORCHERE_INLINE void finishSums(const TileArgs &args, Compute<T> *c, const Compute<T> *residual,
                                Vec<Compute<T>> (&sums)[kM][kN]) {
  using C = Compute<T>;
  constexpr int lanes = kLanesOf<C>;
  // Chunks are summed on their own first: the error grows with their number and length, not with the product.
  if (args.accumulate)
    eachPlace<kM, kN>(c, args.cRowStride, args.cVectorStride,
                      [&](const C *p, int m, int n)
                          __attribute__((always_inline)) { sums[m][n] += load(p); });
  if (const C *bias = static_cast<const C *>(args.bias))
#pragma GCC unroll 4
    for (int n = 0; n < kN; ++n) {
      Vec<C> shift = load(bias + n * lanes);
#pragma GCC unroll 16
      for (int m = 0; m < kM; ++m)
        sums[m][n] += shift;
    }
  if (residual)
    eachPlace<kM, kN>(residual, args.residualRowStride, args.residualVectorStride,
                      [&](const C *p, int m, int n)
                          __attribute__((always_inline)) { sums[m][n] += load(p); });
  if constexpr (kIsFloat<C>)
    activateSums<T, kM, kN>(args.activation, sums);
  eachPlace<kM, kN>(c, args.cRowStride, args.cVectorStride,
                    [&](C *p, int m, int n) __attribute__((always_inline)) { store(p, sums[m][n]); });
}

/// A run of tiles. `T` is B's type.
template <class T, int kM, int kN, int kDepth> void tileRun(const TileArgs &args) {
  using C = Compute<T>;
  const C *a = static_cast<const C *>(args.a), *residual = static_cast<const C *>(args.residual);
  C *c = static_cast<C *>(args.c);
  const char *ahead = static_cast<const char *>(args.ahead ? args.ahead : args.b);
  for (int64_t i = 0; i < args.tiles; ++i) {
    Vec<C> sums[kM][kN];
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m)
#pragma GCC unroll 4
      for (int n = 0; n < kN; ++n)
        sums[m][n] = Vec<C>{};
    fetchResults<C, kM, kN>(args, c, residual);
    sumBlocks<T, kM, kN, kDepth>(args, a, i + 1 < args.tiles ? args.aAhead : args.lastAhead, ahead, sums);
    finishSums<T, kM, kN>(args, c, residual, sums);
    a += kM * args.aRowStride;
    c += kM * args.cRowStride;
    if (residual)
      residual += kM * args.residualRowStride;
  }
}

/// Blocks of a vector of channels are straight code, as are rows of a window of 3x3 on planes.
template <class T, int kM, int kN> void tile(const TileArgs &args) {
  if constexpr (kIsF32<T> && kM * kN >= 8 && kAllInPlace<kM, kN>)
    if (args.bRowStride == kN * kLanes) {
      if (args.k == kLanes)
        return tileRun<T, kM, kN, kLanes>(args);
      if (args.k == 3)
        return tileRun<T, kM, kN, 3>(args);
    }
  tileRun<T, kM, kN, 0>(args);
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
