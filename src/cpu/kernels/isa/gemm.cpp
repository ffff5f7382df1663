// Matrix products: their tiles, and what prepares and finishes them.
#include "cpu/kernels/isa/tile.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// Rows of the result come while earlier ones are computed.
constexpr int64_t kRowsAhead = 6;

/// What is added to the sums of a row, and where they go.
template <class T> struct FinishedRow {
  using C = Compute<T>;
  const C *from, *bias;
  const T *residual;
  T *to;

  FinishedRow(const FinishArgs &args, int64_t row)
      : from(static_cast<const C *>(args.tile) + row * args.tileRowStride),
        bias(static_cast<const C *>(args.bias)),
        residual(args.residual ? static_cast<const T *>(args.residual) + row * args.residualRowStride
                               : nullptr),
        to(static_cast<T *>(args.c) + row * args.cRowStride) {}
  /// A vector from element `i` on; if not `kIsWhole`, `count` elements of one.
  template <bool kIsWhole, class Fn> TORCHERE_INLINE void put(int64_t i, int64_t count, Fn fn) const {
    Vec<C> v = kIsWhole ? load(from + i) : loadPart(from + i, count);
    if (bias)
      v += kIsWhole ? load(bias + i) : loadPart(bias + i, count);
    if (residual)
      v += kIsWhole ? widen(residual + i) : widenPart(residual + i, count);
    kIsWhole ? narrow(to + i, fn(v)) : narrowPart(to + i, fn(v), count);
  }
};

/// `fn`: the activation of a vector. `kVectors`: of a row, where it has no more; 0 for any number.
template <class T, int kVectors, class Fn> TORCHERE_INLINE void finishRows(const FinishArgs &args, Fn fn) {
  constexpr int64_t lanes = kLanesOf<Compute<T>>;
  for (int64_t k = 0; k < args.rows; ++k) {
    FinishedRow<T> row(args, k);
    const T *soon = row.to + (k + kRowsAhead < args.rows ? kRowsAhead * args.cRowStride : 0);
    if constexpr (kVectors > 0) {
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        __builtin_prefetch(soon + i * lanes, 1);
        row.template put<true>(i * lanes, lanes, fn);
      }
    } else {
      int64_t i = 0;
      for (; i + lanes <= args.columns; i += lanes)
        row.template put<true>(i, lanes, fn);
      if (i < args.columns)
        row.template put<false>(i, args.columns - i, fn);
    }
  }
}

template <class T> void finish(const FinishArgs &args) {
  using C = Compute<T>;
  if constexpr (kIsF32<T>)
    withActivation(args.activation, [&](auto fn) {
      args.columns == 3 * kLanes   ? finishRows<T, 3>(args, fn)
      : args.columns == 2 * kLanes ? finishRows<T, 2>(args, fn)
                                   : finishRows<T, 0>(args, fn);
    });
  else if constexpr (kIsFloat<C> && sizeof(C) == 4)
    finishRows<T, 0>(args, [&](Vec<C> v) { return activateBy(args.activation, v); });
  else if constexpr (kIsFloat<C>)
    finishRows<T, 0>(args, [&](Vec<C> v) { return activateDoubles(args.activation, v); });
  else
    finishRows<T, 0>(args, [](Vec<C> v) { return v; });
}

void activateTile(Activation activation, float *tile, int64_t rowStride, int64_t rows, int64_t columns) {
  withActivation(activation, [&](auto fn) {
    for (int64_t row = 0; row < rows; ++row) {
      float *p = tile + row * rowStride;
      int64_t i = 0;
      for (; i + kLanes <= columns; i += kLanes)
        store(p + i, fn(load(p + i)));
      if (i < columns)
        storePart(p + i, fn(loadPart(p + i, columns - i)), columns - i);
    }
  });
}

TORCHERE_INLINE void convertElement(float x, float &to) {
  to = x;
}
TORCHERE_INLINE void convertElement(double x, double &to) {
  to = x;
}
TORCHERE_INLINE void convertElement(uint32_t x, uint32_t &to) {
  to = x;
}
TORCHERE_INLINE void convertElement(uint64_t x, uint64_t &to) {
  to = x;
}
TORCHERE_INLINE void convertElement(BF16 x, float &to) {
  to = toFloat(x);
}
TORCHERE_INLINE void convertElement(F16 x, float &to) {
  to = toFloat(x);
}
TORCHERE_INLINE void convertElement(BF16 x, BF16 &to) {
  to = x;
}
TORCHERE_INLINE void convertElement(F16 x, F16 &to) {
  to = x;
}

template <class T, class To> TORCHERE_INLINE void copyRow(const T *from, To *to, int64_t count) {
  if constexpr (sizeof(T) == sizeof(To)) {
    int64_t i = 0;
    if constexpr (kIsF32<T>) // short rows without a call
      for (; i + kLanes <= count; i += kLanes)
        store(to + i, load(from + i));
    if (i < count)
      memcpy(to + i, from + i, (count - i) * sizeof(T));
  } else {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      store(to + i, widen(from + i));
    for (; i < count; ++i)
      convertElement(from[i], to[i]);
  }
}

/// Reads along whichever stride is 1; the other way in blocks, so that lines are used while they are in the
/// cache.
template <class T, class To> void packAs(const PackArgs &args) {
  const T *input = static_cast<const T *>(args.input);
  To *output = static_cast<To *>(args.output);
  if (args.columnStride == 1) {
    for (int64_t row = 0; row < args.rows; ++row)
      copyRow(input + row * args.rowStride, output + row * args.width, args.columns);
  } else {
    constexpr int64_t kBlock = 16;
    for (int64_t first = 0; first < args.rows; first += kBlock) {
      int64_t end = first + kBlock < args.rows ? first + kBlock : args.rows;
      for (int64_t column = 0; column < args.columns; ++column) {
        const T *from = input + column * args.columnStride;
        for (int64_t row = first; row < end; ++row)
          convertElement(from[row * args.rowStride], output[row * args.width + column]);
      }
    }
  }
  if (args.columns < args.width)
    for (int64_t row = 0; row < args.rows; ++row)
      memset(static_cast<void *>(output + row * args.width + args.columns), 0,
             (args.width - args.columns) * sizeof(To));
}

template <class T> void addElements(IsaKernels &table, int type) {
  table.finish[type] = &finish<T>;
  table.widen[type] = &packAs<T, Compute<T>>;
}

template <class T> void addType(IsaKernels &table, int type) {
  addTiles<T, 1, kRows[1]>(table, type);
  addTiles<T, 2, kRows[2]>(table, type);
  if constexpr (kIsF32<T>) {
    addTiles<T, 3, kRows[3]>(table, type);
    if constexpr (kRows[4] > 0)
      addTiles<T, 4, kRows[4]>(table, type);
  }
  table.pack[type] = &packAs<T, T>;
  addElements<T>(table, type);
}

} // namespace

void addGemm(IsaKernels &table) {
  for (int i = 0; i <= kMaxTileVectors; ++i)
    table.maxRows[i] = kRows[i];
  table.activate = &activateTile;
  addType<float>(table, kF32);
  addType<double>(table, kF64);
  addElements<BF16>(table, kBF16);
  addElements<F16>(table, kF16);
  table.pack[kF16] = &packAs<F16, F16>;
  addType<uint32_t>(table, kInt32);
  addType<uint64_t>(table, kInt64);
}

} // namespace torchere::cpu::TORCHERE_ISA
