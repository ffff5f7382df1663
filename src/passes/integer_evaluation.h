// Computes ops on small integer tensors at compile time: the arithmetic of shapes.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace torchere::passes {

/// Tensors of more elements than this are data, not shapes, and are left alone.
constexpr int64_t maxShapeElements = 1024;

/// The value of an integer or boolean constant of at most maxShapeElements elements; null for anything else.
mlir::DenseIntElementsAttr constantInteger(mlir::Value value);

/// The value of an op's only result when all its operands are such constants (or when it asks for a known
/// dimension size); null if it cannot be computed here. Division by zero is left to the run time.
mlir::DenseIntElementsAttr evaluateInteger(mlir::Operation *op);

} // namespace torchere::passes
