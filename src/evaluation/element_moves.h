// What ops compute that move elements about without changing them.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace torchere::evaluation {

/// The elements' bits, in row-major order.
using Elements = llvm::SmallVector<llvm::APInt>;

/// The result's elements for an op that reshapes, broadcasts, transposes, reverses, slices, joins or pads, or
/// for an iota of integers; nothing for other ops. Shapes are static, and `operands` has one entry an
/// operand.
std::optional<Elements> moveElements(mlir::Operation *op, llvm::ArrayRef<Elements> operands);

/// Whether such an op takes all its result's elements from its first operand.
bool movesOneOperand(mlir::Operation *op);

} // namespace torchere::evaluation
