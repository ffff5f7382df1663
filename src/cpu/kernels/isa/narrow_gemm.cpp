// Matrix products whose weights have 16 bits or 8, which tiles widen in registers. BF16 of many rows is
// multiplied as f32, by panels that are widened first, unless an extension multiplies pairs.
#include "cpu/kernels/isa/tile.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// Rows 2 i and 2 i + 1 of B side by side; zeros where there is no second one.
template <class T> void packPairs(const PackArgs &args) {
  const T *input = static_cast<const T *>(args.input);
  T *output = static_cast<T *>(args.output);
  for (int64_t row = 0; row < args.rows; row += 2, output += 2 * args.width) {
    const T *first = input + row * args.rowStride, *second = first + args.rowStride;
    if (row + 1 == args.rows) {
      for (int64_t column = 0; column < args.columns; ++column) {
        output[2 * column] = first[column * args.columnStride];
        output[2 * column + 1] = 0;
      }
    } else if (args.columnStride == 1) {
      for (int64_t column = 0; column < args.columns; ++column) {
        output[2 * column] = first[column];
        output[2 * column + 1] = second[column];
      }
    } else {
      for (int64_t column = 0; column < args.columns; ++column) {
        output[2 * column] = first[column * args.columnStride];
        output[2 * column + 1] = second[column * args.columnStride];
      }
    }
    memset(output + 2 * args.columns, 0, 2 * (args.width - args.columns) * sizeof(T));
  }
}

/// Rows of A as pairs of 16 bits, those of BF16 as they are; the width counts pairs.
template <class T> void widenRows(const PackArgs &args) {
  for (int64_t row = 0; row < args.rows; ++row) {
    const T *from = static_cast<const T *>(args.input) + row * args.rowStride;
    auto *to = static_cast<int16_t *>(args.output) + row * args.width * 2;
    if (args.columnStride == 1)
      for (int64_t i = 0; i < args.columns; ++i)
        to[i] = from[i];
    else
      for (int64_t i = 0; i < args.columns; ++i)
        to[i] = from[i * args.columnStride];
    memset(to + args.columns, 0, (2 * args.width - args.columns) * sizeof(int16_t));
  }
}

void widenPairs(const void *panel, int64_t steps, int64_t columns, void *output) {
  auto *from = static_cast<const BF16Pair *>(panel);
  auto *to = static_cast<float *>(output);
  for (int64_t step = 0; step < steps; ++step, to += 2 * columns)
    for (int64_t i = 0; i < columns; i += kLanes, from += kLanes) {
      U pairs = loadPairs(from);
      store(to + i, firstOfPairs(pairs));
      store(to + columns + i, secondOfPairs(pairs));
    }
}

/// Zeros where the last step has no second one.
void joinPairs(const void *panel, int64_t steps, int64_t columns, void *output) {
  auto *first = static_cast<const uint16_t *>(panel);
  auto *to = static_cast<uint32_t *>(output);
  for (int64_t step = 0; step < steps; step += 2, first += 2 * columns, to += columns) {
    const uint16_t *second = first + columns;
    if (step + 1 < steps)
      for (int64_t i = 0; i < columns; ++i)
        to[i] = first[i] | static_cast<uint32_t>(second[i]) << 16;
    else
      for (int64_t i = 0; i < columns; ++i)
        to[i] = first[i];
  }
}

/// Rows of A as fours of bytes; the width counts fours.
void joinRows(const PackArgs &args) {
  for (int64_t row = 0; row < args.rows; ++row) {
    const uint8_t *from = static_cast<const uint8_t *>(args.input) + row * args.rowStride;
    auto *to = static_cast<uint8_t *>(args.output) + row * args.width * 4;
    if (args.columnStride == 1)
      memcpy(to, from, args.columns);
    else
      for (int64_t i = 0; i < args.columns; ++i)
        to[i] = from[i * args.columnStride];
    memset(to + args.columns, 0, 4 * args.width - args.columns);
  }
}

template <class T, class Pair> void addBytes(IsaKernels &table, int type) {
  addNarrowTiles<Pair>(table, type);
  table.pack[type] = &packPairs<uint8_t>;
  table.widen[type] = &widenRows<T>;
}

} // namespace

void addNarrowGemm(IsaKernels &table) {
  addTiles<BF16Pair, 1, kFewRows>(table, kBF16);
  addTiles<BF16Pair, 2, kFewRows>(table, kBF16);
  addNarrowTiles<F16>(table, kF16);
  table.pack[kBF16] = &packPairs<uint16_t>;
  table.widen[kBF16Dots] = &widenRows<int16_t>;
  table.widen[kByteDots] = &joinRows;
  table.widenPairs = &widenPairs;
  table.joinPairs = &joinPairs;
  addBytes<int8_t, I8Pair>(table, kInt8);
  addBytes<uint8_t, U8Pair>(table, kUInt8);
}

} // namespace torchere::cpu::TORCHERE_ISA
