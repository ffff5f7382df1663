// Computes ops on constants at compile time: the arithmetic of shapes, and the folding of constants.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace torchere::evaluation {

/// Tensors of more elements than this are data, not shapes, and are left alone.
constexpr int64_t maxShapeElements = 1024;

/// What may be computed.
struct EvaluationLimits {
  /// Of an operand and of the result. What holds one value only is computed whatever its size.
  int64_t elements = maxShapeElements;
  /// Floating-point numbers as well, where the specification leaves no doubt about any bit of the result.
  bool floats = false;
};

/// The value of an integer or boolean constant of at most maxShapeElements elements; null for anything else.
mlir::DenseIntElementsAttr constantInteger(mlir::Value value);

/// The value of an op's only result when all its operands are constants within the limits (or when it asks
/// for a known dimension size); null if it cannot be computed here. What the specification leaves to the
/// implementation is left to the run time: division by zero, conversions out of range.
mlir::DenseElementsAttr evaluate(mlir::Operation *op, const EvaluationLimits &limits);

/// `evaluate` for shapes: integers and booleans, at most maxShapeElements of them.
mlir::DenseIntElementsAttr evaluateInteger(mlir::Operation *op);

} // namespace torchere::evaluation
