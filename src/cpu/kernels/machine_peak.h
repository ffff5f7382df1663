// The machine's peaks, as measured: what kernels are compared with.
#pragma once

#include "cpu/kernels/thread_pool.h"

namespace torchere::cpu {

struct MachinePeak {
  double flops = 0;     ///< a second: multiply-adds of f32 on operands that stay in the L1 cache
  double bandwidth = 0; ///< bytes a second: read and written by a copy that no cache holds
};

/// Its first part: takes about a fiftieth of a second.
double measureFlops(const Context &context);
/// Takes about a tenth of a second.
MachinePeak measurePeak(const Context &context);
/// That of the first call with as many threads and the same instruction set.
const MachinePeak &measuredPeak(const Context &context);

} // namespace torchere::cpu
