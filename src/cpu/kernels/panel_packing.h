// A panel of a matrix of weights, packed by the quickest way that its strides allow.
#pragma once

#include "cpu/kernels/isa_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace torchere::cpu {

/// As kernels.pack[type]. Columns that lie in one piece each are the rows of a plane to be transposed.
/// `isPadded`: there are zeros beyond the columns already.
inline void packPanel(const IsaKernels &kernels, FloatType type, int64_t elementSize, const PackArgs &args,
                      bool isPadded = false) {
  if (args.rowStride != 1 || args.columnStride == 1)
    return kernels.pack[type](args);
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

} // namespace torchere::cpu
