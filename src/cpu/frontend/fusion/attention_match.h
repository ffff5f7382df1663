// Finds the parts of attention: a product, scaled and masked, softmax, and a second product.
//
// Dimensions are followed by labels through the ops between the products: dimension i of the first product's
// result is label i. Sizes of 1 have none: they come and go.
#pragma once

#include "stablehlo/dialect.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace torchere::cpu {

using Labels = llvm::SmallVector<int64_t>; ///< by dimension; -1 for a size of 1

/// What is added to scores, or what chooses, or what they are multiplied by.
struct AttentionMask {
  mlir::Operation *op = nullptr;
  mlir::Value value;
  Labels labels;
};

struct AttentionMatch {
  stablehlo::DotGeneralOp first, second;
  mlir::Operation *softmax = nullptr;
  double scale = 1;
  double bound = 0;                          ///< of scores that the hyperbolic tangent bounds
  llvm::SmallVector<AttentionMask, 2> masks; ///< several only if all are added
  /// What is broadcast to the scores, which it is multiplied by before anything is added: queries or keys
  /// are, if it does not depend on both.
  std::optional<AttentionMask> factor;
  double masked = 0; ///< the score of what a boolean mask leaves out
  bool isInverted = false, isBoolean = false;
  bool keysAreRight = true; ///< of the first product
  Labels weightLabels;      ///< of the second product's operand
  bool weightsAreLeft = true;

  bool isScaled() const { return scale != 1 || bound != 0 || factor; }
};

/// The attention that a call of the kernel "softmax" is a part of. Its masks may have been simplified,
/// whether it is one or not.
std::optional<AttentionMatch> matchAttention(mlir::Operation *softmax);

} // namespace torchere::cpu
