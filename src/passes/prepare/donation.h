// markDonations: tells the compiler which arguments' memory results may reuse.
#pragma once

#include "stablehlo/module.h"

#include <cstddef>
#include <span>

namespace torchere::passes {

/// Argument `argument` of the entry function donates its memory to result `result`, of the same type.
struct Donation {
  size_t argument;
  size_t result;
};

/// Sets `tf.aliasing_output` on the arguments of the function @main, as JAX does and compilers expect. The
/// caller must then give up the buffers that it passes for them. InvalidArgument if an index is out of range
/// or @main is missing.
TORCHERE_EXPORT Status markDonations(stablehlo::Module &module, std::span<const Donation> donations);

} // namespace torchere::passes
