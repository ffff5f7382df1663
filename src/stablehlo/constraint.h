// How the verifiers and type inference report what breaks a constraint of the StableHLO specification.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"

#include <optional>

namespace torchere::stablehlo {

/// Emits `'stablehlo.pad' op (C2) message` and fails. `constraint` is the number in the section of the op in
/// the specification; it is empty for what the specification leaves to the type system. Without a location
/// (inference that may fail quietly) nothing is emitted.
template <class... Args>
llvm::LogicalResult violation(std::optional<mlir::Location> location, llvm::StringRef op,
                              llvm::StringRef constraint, Args &&...message) {
  if (!location)
    return llvm::failure();
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(*location);
  diagnostic << "'" << op << "' op ";
  if (!constraint.empty())
    diagnostic << "(" << constraint << ") ";
  (void)(diagnostic << ... << std::forward<Args>(message));
  return diagnostic;
}

template <class... Args>
llvm::LogicalResult violation(mlir::Operation *op, llvm::StringRef constraint, Args &&...message) {
  return violation(op->getLoc(), op->getName().getStringRef(), constraint, std::forward<Args>(message)...);
}

/// Where inference or a verifier reports: a location that may be absent, and the op's name.
struct Reporter {
  std::optional<mlir::Location> location;
  llvm::StringRef op;

  Reporter(std::optional<mlir::Location> location, llvm::StringRef op) : location(location), op(op) {}
  explicit Reporter(mlir::Operation *operation)
      : location(operation->getLoc()), op(operation->getName().getStringRef()) {}

  template <class... Args>
  llvm::LogicalResult violation(llvm::StringRef constraint, Args &&...message) const {
    return stablehlo::violation(location, op, constraint, std::forward<Args>(message)...);
  }

  /// Each of `dimensions` lies in [0, rank).
  llvm::LogicalResult inRange(llvm::StringRef constraint, llvm::StringRef name,
                              llvm::ArrayRef<int64_t> dimensions, int64_t rank) const;
  /// No value occurs twice.
  llvm::LogicalResult unique(llvm::StringRef constraint, llvm::StringRef name,
                             llvm::ArrayRef<int64_t> dimensions) const;
  llvm::LogicalResult sorted(llvm::StringRef constraint, llvm::StringRef name,
                             llvm::ArrayRef<int64_t> dimensions) const;
  /// `name` has `expected` elements.
  llvm::LogicalResult size(llvm::StringRef constraint, llvm::StringRef name, int64_t got,
                           int64_t expected) const;
  /// The vector `value` has `expected` elements, as far as its type says.
  llvm::LogicalResult length(llvm::StringRef constraint, llvm::StringRef name, mlir::Value value,
                             int64_t expected) const;
  /// Two tensors have the same element type.
  llvm::LogicalResult sameElements(llvm::StringRef constraint, llvm::StringRef leftName, mlir::Value left,
                                   llvm::StringRef rightName, mlir::Value right) const;
  /// Each of `values` is at least `least`.
  llvm::LogicalResult atLeast(llvm::StringRef constraint, llvm::StringRef name,
                              llvm::ArrayRef<int64_t> values, int64_t least) const;
};

inline bool isKnown(int64_t size) {
  return !mlir::ShapedType::isDynamic(size);
}

/// Whether two sizes can be equal: an unknown one can equal any.
inline bool mayEqual(int64_t left, int64_t right) {
  return !isKnown(left) || !isKnown(right) || left == right;
}

} // namespace torchere::stablehlo
