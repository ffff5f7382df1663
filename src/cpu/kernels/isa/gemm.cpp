// Matrix products: their tiles, and what prepares and finishes them.
#include "cpu/kernels/isa/tile.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class T> void finish(const FinishArgs &args) {
  using C = Compute<T>;
  constexpr int lanes = kLanesOf<C>;
  for (int64_t row = 0; row < args.rows; ++row) {
    const C *from = static_cast<const C *>(args.tile) + row * args.tileRowStride;
    T *to = static_cast<T *>(args.c) + row * args.cRowStride;
    const T *residual =
        args.residual ? static_cast<const T *>(args.residual) + row * args.residualRowStride : nullptr;
    const C *bias = static_cast<const C *>(args.bias);
    for (int64_t i = 0; i < args.columns; i += lanes) {
      int64_t count = args.columns - i;
      bool whole = count >= lanes;
      Vec<C> v = whole ? load(from + i) : loadPart(from + i, count);
      if (bias)
        v += whole ? load(bias + i) : loadPart(bias + i, count);
      if (residual)
        v += whole ? widen(residual + i) : widenPart(residual + i, count);
      if constexpr (kIsFloat<C> && sizeof(C) == 4)
        v = activateBy(args.activation, v);
      else if constexpr (kIsFloat<C>)
        v = activateDoubles(args.activation, v);
      whole ? narrow(to + i, v) : narrowPart(to + i, v, count);
    }
  }
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
