// markDonations: tells the compiler which arguments' memory the results may take.
#pragma once

#include "stablehlo/module.h"

#include <cstddef>
#include <span>

namespace torchere::passes {

/// Argument `argument` of the entry function gives its memory to result `result`, of the same type.
struct Donation {
  size_t argument;
  size_t result;
};

/// Sets `tf.aliasing_output` on the arguments of the function @main, as JAX does; XLA's compilers read it.
/// The caller must then give up the buffers that it passes there. A result that is the argument with parts
/// written over gets an optimization barrier behind each write that something else reads: XLA then writes
/// once, in the argument's memory, where its fusion would write once more for a reader, into a copy.
/// InvalidArgument when an index is out of range or @main is missing.
TORCHERE_EXPORT Status markDonations(stablehlo::Module &module, std::span<const Donation> donations);

} // namespace torchere::passes
