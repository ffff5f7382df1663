// A panel of a matrix of weights, packed by the quickest way that its strides allow.
#pragma once

#include "cpu/kernels/isa_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace torchere::cpu {

/// Columns that lie in one piece each are the rows of a plane to be transposed.
inline void transposePanel(const IsaKernels &kernels, int64_t elementSize, const PackArgs &args,
                           bool isPadded) {
  auto transpose = kernels.transpose[std::countr_zero(static_cast<uint64_t>(elementSize))];
  constexpr int64_t kRows = 128; // whose lines stay in the L1 cache until all columns are written
  for (int64_t row = 0; row < args.rows; row += kRows)
    transpose(static_cast<const char *>(args.input) + row * elementSize, args.columnStride,
              static_cast<char *>(args.output) + row * args.width * elementSize, args.width, args.columns,
              std::min(kRows, args.rows - row));
  if (isPadded)
    return;
  for (int64_t row = 0; args.columns < args.width && row < args.rows; ++row)
    std::memset(static_cast<char *>(args.output) + (row * args.width + args.columns) * elementSize, 0,
                static_cast<size_t>((args.width - args.columns) * elementSize));
}

/// As kernels.pack[type]. `isPadded`: there are zeros beyond the columns already. `stepRows`: 2 of a type
/// that is packed by pairs of rows.
inline void packPanel(const IsaKernels &kernels, FloatType type, int64_t elementSize, const PackArgs &args,
                      bool isPadded = false, int64_t stepRows = 1) {
  if (args.rowStride != 1 || args.columnStride == 1 || args.columnStride % stepRows != 0)
    return kernels.pack[type](args);
  PackArgs steps = args; // whole ones, as elements
  steps.columnStride /= stepRows;
  steps.rows /= stepRows;
  transposePanel(kernels, elementSize * stepRows, steps, isPadded);
  PackArgs last = args;
  last.rows = args.rows % stepRows;
  if (last.rows == 0)
    return;
  int64_t before = args.rows - last.rows;
  last.input = static_cast<const char *>(args.input) + before * elementSize;
  last.output = static_cast<char *>(args.output) + before * args.width * elementSize;
  kernels.pack[type](last);
}

} // namespace torchere::cpu
