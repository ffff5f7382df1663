// What elementwise ops compute on one element, as bits.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <functional>
#include <optional>

namespace torchere::evaluation {

/// How an element's bits are read.
struct ElementFormat {
  enum class Kind { Boolean, Signed, Unsigned, Float };

  Kind kind;
  unsigned width;                                ///< in bits
  const llvm::fltSemantics *semantics = nullptr; ///< of a float

  /// Null for what is no boolean, integer (index included) or float.
  static std::optional<ElementFormat> of(mlir::Type element);

  bool isFloat() const { return kind == Kind::Float; }
};

/// The result's bits, or nothing if this pair of operands is left to the run time.
using BinaryFunction = std::function<std::optional<llvm::APInt>(const llvm::APInt &, const llvm::APInt &)>;
using UnaryFunction = std::function<std::optional<llvm::APInt>(const llvm::APInt &)>;

/// The function of an elementwise op of one or two operands; null for other ops, and where no result is
/// certain to the last bit (transcendental functions, arithmetic in 8 bits and less). Floats round to nearest
/// even.
BinaryFunction binaryFunction(mlir::Operation *op);
UnaryFunction unaryFunction(mlir::Operation *op);

/// Whether lhs < rhs as the elements of `format`; false for NaN.
bool isLess(const ElementFormat &format, const llvm::APInt &lhs, const llvm::APInt &rhs);

} // namespace torchere::evaluation
