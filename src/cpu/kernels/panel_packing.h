// A panel of a matrix of weights, packed by the quickest way that its strides allow.
#pragma once

#include "cpu/kernels/isa_kernels.h"

#include <bit>
#include <cstring>

namespace torchere::cpu {

/// As kernels.pack[type]. Columns that lie in one piece each are the rows of a plane to be transposed.
inline void packPanel(const IsaKernels &kernels, FloatType type, int64_t elementSize, const PackArgs &args) {
  if (args.rowStride != 1 || args.columnStride == 1)
    return kernels.pack[type](args);
  kernels.transpose[std::countr_zero(static_cast<uint64_t>(elementSize))](
      args.input, args.columnStride, args.output, args.width, args.columns, args.rows);
  for (int64_t row = 0; args.columns < args.width && row < args.rows; ++row)
    std::memset(static_cast<char *>(args.output) + (row * args.width + args.columns) * elementSize, 0,
                static_cast<size_t>((args.width - args.columns) * elementSize));
}

} // namespace torchere::cpu
