// Complex numbers in vector programs: pairs of values.
#pragma once

#include "cpu/plan/view.h"
#include "cpu/vector/program.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace torchere::cpu {

/// A value of a program's elements. The imaginary part is less than 0 for types that have none.
struct ElementParts {
  VectorBuilder::Value real = -1;
  VectorBuilder::Value imaginary = -1;
};

/// Where the real or the imaginary parts of a view of complex numbers lie.
View partsView(const View &view, bool isImaginary);

bool hasComplex(mlir::Operation *op);
/// Whether the op, which has complex operands or results, is one that applyComplex() takes.
bool isComplexArithmetic(mlir::Operation *op);
/// The op's result.
ElementParts applyComplex(VectorBuilder &builder, mlir::Operation *op, llvm::ArrayRef<ElementParts> operands);

} // namespace torchere::cpu
