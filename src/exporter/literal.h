// Tensor constants of a program as attributes of the module.
#pragma once

#include "program/program.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace torchere::exporter {

/// The elements of a weight (with any strides) as a literal of `type`.
mlir::DenseElementsAttr literal(const program::Weight &weight, mlir::RankedTensorType type);

} // namespace torchere::exporter
