// Elementwise ops as instructions of vector programs.
#pragma once

#include "cpu/vector/program.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace torchere::cpu {

/// Whether vector programs have the value's type.
bool hasVectorType(mlir::Value value);
/// The names of ops that may be.
std::vector<llvm::StringRef> elementwiseNames();
/// Whether the op computes each element of its results from the same elements of its operands, of types that
/// vector programs have.
bool isElementwise(mlir::Operation *op);
/// The same, or with complex numbers as pairs, or a choice among elements of one byte.
bool joinsGroups(mlir::Operation *op);
/// The type in vectors of a value that a program reads or gives: bytes for small types, which are only moved.
DType laneTypeOf(mlir::Value value);
/// The op's result, where it has no complex numbers. Its operands are values of the builder; none if the op
/// has a form that has no instruction.
std::optional<VectorBuilder::Value> applyElementwise(VectorBuilder &builder, mlir::Operation *op,
                                                     llvm::ArrayRef<VectorBuilder::Value> operands);

} // namespace torchere::cpu
