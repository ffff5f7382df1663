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

/// The same of one result of open sizes, which are the call's last operand until they are bound.
stablehlo::CustomCallOp createOpenCall(mlir::OpBuilder &builder, mlir::Location location,
                                       llvm::StringRef kernel, mlir::Type result, mlir::ValueRange operands,
                                       mlir::Value sizes,
                                       llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

/// The open sizes of an elementwise op's result, as far as what it is computed from tells them; or null.
mlir::Value computedSizesOf(mlir::Operation *op);

/// Puts a call in place of an op whose result has the shape of the first operand. Where that is open, the
/// call has the sizes as its last operand until they are bound.
void replaceByShapedCall(mlir::Operation *op, llvm::StringRef kernel, mlir::ValueRange operands,
                         llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

/// Whether the op is a call of the kernel, or of any if the name is empty.
bool isKernelCall(mlir::Operation *op, llvm::StringRef kernel = {});

/// The attributes of such a call, or of one that is part of another.
class KernelAttributes {
public:
  KernelAttributes(mlir::Operation *op)
      : attributes(op->getAttrOfType<mlir::DictionaryAttr>("backend_config")) {}
  KernelAttributes(mlir::DictionaryAttr attributes) : attributes(attributes) {}
  /// Null if the call has none.
  mlir::DictionaryAttr dictionary() const { return attributes; }

private:
  mlir::DictionaryAttr attributes;
};

/// One of them; null if there is none of that name.
mlir::Attribute kernelAttribute(KernelAttributes call, llvm::StringRef name);

/// Those that a kernel's calls always have, by their types.
bool kernelFlag(KernelAttributes call, llvm::StringRef name);
int64_t kernelInteger(KernelAttributes call, llvm::StringRef name);
llvm::ArrayRef<int64_t> kernelIntegers(KernelAttributes call, llvm::StringRef name);
double kernelNumber(KernelAttributes call, llvm::StringRef name);

/// The dimension numbers of a dot_general, or of a call that stands for one.
stablehlo::DotDimensionNumbersAttr dotNumbersOf(mlir::Operation *product);

/// How many elements a row has: the last dimensions of the first operand, as many as the attribute `trailing`
/// of such a call tells.
int64_t rowLengthOf(mlir::Operation *op);

} // namespace torchere::cpu
