// Computes ops on constants at compile time: shape arithmetic and constant folding.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace torchere::evaluation {

/// Tensors with more elements than this are data, not shapes, and are left alone.
constexpr int64_t maxShapeElements = 1024;

/// What may be computed.
struct EvaluationLimits {
  /// For operands and results. Tensors with a single value are computed whatever their size.
  int64_t elements = maxShapeElements;
  /// Floating-point numbers as well, where the specification determines every bit of the result.
  bool floats = false;
  /// Functions of f64 as well that are approximated (sqrt, power): for sizes, which Python computes in the
  /// same way, and which are rounded.
  bool approximations = false;
};

/// The value of an integer or boolean constant of at most maxShapeElements elements; otherwise null.
mlir::DenseIntElementsAttr constantInteger(mlir::Value value);

/// The value of an op's only result if all its operands are constants within the limits (or if it asks for a
/// known dimension size); null if it cannot be computed here. Cases that are implementation-defined are left
/// to run time: division by zero, conversions out of range.
mlir::DenseElementsAttr evaluate(mlir::Operation *op, const EvaluationLimits &limits);

} // namespace torchere::evaluation
