// Tensors whose elements are repeated beside each other, as an image that is upsampled to the nearest pixel.
#pragma once

#include "stablehlo/dialect.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace torchere::cpu {

struct RepeatedElements {
  mlir::Value source;
  llvm::SmallVector<int64_t, 5> counts; ///< by dimension, which are the same in both
};

/// The form: a broadcast puts a dimension behind each that is repeated, and the reshape joins the two. None
/// for other reshapes.
std::optional<RepeatedElements> repeatedElementsOf(stablehlo::ReshapeOp reshape);

} // namespace torchere::cpu
