// How scatters join updates to the elements of a tensor.
#pragma once

#include "cpu/kernels/indexed_slices.h"

namespace torchere::cpu {

struct UpdateRun {
  const Context &context;
  char *tensor;
  int64_t tensorStride;
  const int64_t *offsets; ///< in place of the stride; none of those that are left out. Or null
  const char *updates;
  int64_t updateStride;
  int64_t n;
};
using JoinRun = void (*)(const UpdateRun &run);
/// Null for Replace, and where there is none.
JoinRun joinRunOf(DType type, ScatterJoin join);

} // namespace torchere::cpu
