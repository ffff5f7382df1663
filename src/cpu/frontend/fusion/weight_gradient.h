// WeightGradient: a convolution that is the gradient of another one's weights.
#pragma once

#include "cpu/frontend/fusion/blocked_value.h"
#include "cpu/kernels/convolution.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace torchere::cpu {

/// A convolution whose batches are another one's input channels, and whose kernels are the gradient of that
/// one's output: it sums over images and pixels.
struct WeightGradient {
  PlanarOrder inputOrder{}, pixelsOrder{};
  WeightGradientArgs args; ///< of tensors their sizes alone
};
/// None for other convolutions, and where they take less time as those.
std::optional<WeightGradient> weightGradientOf(mlir::Operation *op);

} // namespace torchere::cpu
