// Calls of the engine's own kernels: what a fusion puts in place of the ops that a kernel computes.
#pragma once

#include "stablehlo/dialect.h"

namespace torchere::cpu {

/// The targets of such custom calls begin with it. A module that is read has none.
inline constexpr llvm::StringLiteral kernelPrefix = "torchere_cpu.";

/// A call of the kernel, whose name has no prefix, with attributes for the function that plans it.
stablehlo::CustomCallOp createKernelCall(mlir::OpBuilder &builder, mlir::Location location,
                                         llvm::StringRef kernel, mlir::TypeRange results,
                                         mlir::ValueRange operands,
                                         llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

/// Puts a call of an elementwise kernel in place of an op whose result has the shape of `operand`. Where that
/// is open, the call has the sizes as an operand until they are bound.
void replaceByElementwiseCall(mlir::Operation *op, llvm::StringRef kernel, mlir::Value operand);

/// Whether the op is a call of the kernel, or of any if the name is empty.
bool isKernelCall(mlir::Operation *op, llvm::StringRef kernel = {});

/// An attribute of such a call; null if it has none of that name.
mlir::Attribute kernelAttribute(mlir::Operation *op, llvm::StringRef name);

} // namespace torchere::cpu
