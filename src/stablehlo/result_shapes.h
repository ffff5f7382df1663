// The shapes of a module's results, for code that does not use MLIR.
#pragma once

#include "base/error.h"
#include "stablehlo/module.h"

#include <cstdint>
#include <vector>

namespace torchere::stablehlo {

/// The shapes of @main's results; InvalidArgument if one is not static.
TORCHERE_EXPORT Result<std::vector<std::vector<int64_t>>> resultShapes(const Module &module);

} // namespace torchere::stablehlo
