// The constraints of the specification that only quantized tensors can break.
#pragma once

#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

namespace torchere::stablehlo {

/// The type with another quantized dimension, if it is per-axis quantized.
mlir::Type withQuantizedDimension(mlir::Type element, int64_t dimension);

/// An op that only moves elements keeps their type, but for the quantized dimension of per-axis quantized
/// ones. When it repeats elements (broadcasts), their scales and zero points may differ, too.
llvm::LogicalResult verifyMovedElements(const Reporter &reporter, llvm::StringRef constraint,
                                        mlir::RankedTensorType operand, mlir::RankedTensorType result,
                                        bool repeats = false);

/// The quantized dimension of a broadcast's result is where the operand's goes; a single scale is repeated.
llvm::LogicalResult verifyBroadcastScales(const Reporter &reporter, llvm::StringRef constraint,
                                          mlir::RankedTensorType operand, mlir::RankedTensorType result,
                                          llvm::ArrayRef<int64_t> dimensions);

/// A reshape keeps the quantized dimension, and the numbers of elements before and after it.
llvm::LogicalResult verifyReshapedScales(const Reporter &reporter, llvm::StringRef constraint,
                                         mlir::RankedTensorType operand, mlir::RankedTensorType result);

/// Storage, expressed type and quantized dimensions of add: (C2) to (C7).
llvm::LogicalResult verifyQuantizedAdd(const Reporter &reporter, mlir::Type lhs, mlir::Type rhs,
                                       mlir::Type result);

/// The numbers that dot_general and convolution have for the same constraints.
struct ContractionConstraints {
  llvm::StringRef isQuantized; ///< lhs and result are quantized or neither is; rhs is
  llvm::StringRef storage;     ///< lhs and rhs have the same storage type
  llvm::StringRef expressed;   ///< all three have the same expressed type
  llvm::StringRef granularity; ///< without scales per axis in rhs there are none in the result
  llvm::StringRef hybrid;      ///< a lhs that is not quantized is of rhs's expressed type
};

/// Element types of a contraction of which any is quantized; others are not looked at.
llvm::LogicalResult verifyQuantizedContraction(const Reporter &reporter,
                                               const ContractionConstraints &constraints, mlir::Type lhs,
                                               mlir::Type rhs, mlir::Type result);

/// All zero points of a quantized type are 0.
llvm::LogicalResult verifyZeroPoints(const Reporter &reporter, llvm::StringRef constraint,
                                     llvm::StringRef name, mlir::Type element);

} // namespace torchere::stablehlo
