// MLIR constants as tensors, and back.
#pragma once

#include "evaluation/tensor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace torchere::evaluation {

/// A dense constant. Unimplemented for sparse constants.
Result<Tensor> tensorOf(mlir::ElementsAttr constant);
/// A dense constant of the type with the tensor's elements. A tensor of one element makes a splat.
mlir::DenseElementsAttr constantOf(const Tensor &tensor, mlir::RankedTensorType type);
/// The single value of a constant; none if it has several, or elements that are not numbers of StableHLO.
std::optional<Element> splatOf(mlir::DenseElementsAttr constant);

} // namespace torchere::evaluation
