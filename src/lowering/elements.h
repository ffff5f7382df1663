// Elements: formulas on tensors, built by a lowering's context.
#pragma once

#include "lowering/context.h"
#include "stablehlo/elements.h"

namespace torchere::lowering {

using Elements = stablehlo::ElementsOf<Context>;

} // namespace torchere::lowering
