// Elements: formulas on tensors, built by a lowering's context.
#pragma once

#include "lowering/context.h"
#include "stablehlo/elements.h"

namespace torchere::lowering {

using stablehlo::infinity;
using stablehlo::nan;

using Elements = stablehlo::ElementsOf<Context>;

inline Elements sigmoid(const Elements &x) {
  return x.apply<stablehlo::LogisticOp>();
}

} // namespace torchere::lowering
