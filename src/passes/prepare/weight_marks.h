// markWeights: tells the compiler which arguments stay the same from call to call.
#pragma once

#include "stablehlo/module.h"

#include <cstddef>
#include <span>

namespace torchere::passes {

/// Sets stablehlo::weightAttribute on these arguments of the function @main. InvalidArgument if an index is
/// out of range or @main is missing.
TORCHERE_EXPORT Status markWeights(stablehlo::Module &module, std::span<const size_t> arguments);

} // namespace torchere::passes
