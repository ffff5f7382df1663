// Constants of MLIR as tensors, and back.
#pragma once

#include "evaluation/tensor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace torchere::evaluation {

/// A dense constant. Unimplemented for sparse constants.
Result<Tensor> tensorOf(mlir::ElementsAttr constant);
/// A dense constant of the type, whose elements are the tensor's. One element makes a constant of one value.
mlir::DenseElementsAttr constantOf(const Tensor &tensor, mlir::RankedTensorType type);
/// The only value of a constant; nothing if it has several, or elements that are no numbers of StableHLO.
std::optional<Element> splatOf(mlir::DenseElementsAttr constant);

} // namespace torchere::evaluation
