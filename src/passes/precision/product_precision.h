// The precision that a module asks of its products and convolutions.
#pragma once

#include "base/error.h"
#include "stablehlo/module.h"

#include <string_view>

namespace torchere::passes {

/// Sets it for both operands of every dot and convolution, in place of what the module asks: "default",
/// "high" or "highest" (StableHLO's precision_config). A dot that names its algorithm keeps to that.
/// InvalidArgument for another name, which is there for `checkPrecision` as well.
TORCHERE_EXPORT Status setProductPrecision(stablehlo::Module &module, std::string_view precision);
TORCHERE_EXPORT Status checkPrecision(std::string_view precision);

} // namespace torchere::passes
