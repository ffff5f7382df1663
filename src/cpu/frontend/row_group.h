// RowGroup: elementwise ops and reductions of the same rows that become one vector program.
#pragma once

#include "cpu/frontend/planner.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace torchere::cpu {

/// Whether the reduction is over all dimensions from one on, so that its results are elements of rows.
bool isOfRows(mlir::Operation *reduction);
/// The number of rows, if the op gives each element of its operand to a whole row of its result, or if the
/// result has the operand's elements in another shape.
std::optional<int64_t> spreadRows(mlir::Operation *op);

/// Rows of a softmax, a norm or their gradients: what reductions need and what is made of their results for
/// the same rows, in any number of turns.
class RowGroup {
public:
  /// All that waits and that the roots are computed from: an elementwise op, or reductions of one shape over
  /// the same dimensions.
  RowGroup(Planner &planner, llvm::ArrayRef<mlir::Operation *> roots);

  /// Whether a row has to be known as a whole before it is gone through again, and the shapes are worth it.
  bool isWorthwhile() const;
  /// Operands that wait and that the program would read.
  llvm::SmallVector<mlir::Value> waitingInputs() const;
  /// In the order of the block.
  llvm::ArrayRef<mlir::Operation *> members() const { return ops; }
  bool contains(mlir::Operation *op) const { return kinds.contains(op); }

  /// What others need of the members. They compute again what is little, from the elements of rows.
  void findShared(llvm::ArrayRef<mlir::Operation *> roots);
  bool isRepeated(mlir::Operation *op) const { return repeated.contains(op); }
  /// Other shapes of elements of rows that are needed outside.
  bool isSeen(mlir::Operation *op) const { return seen.contains(op); }
  llvm::ArrayRef<mlir::Operation *> stored() const { return results; }

  /// The program's inputs are read from views. False if one would have to be copied.
  Result<bool> readInputs();
  /// The view of a result as the program walks it.
  View walked(mlir::Operation *op, const View &view) const;
  /// None if an op has no instruction.
  std::optional<VectorProgram> build();

  std::vector<View> inputs;

private:
  enum class Kind : uint8_t { Wide, Row, Spread };
  class Builder;

  void collect(llvm::ArrayRef<mlir::Operation *> roots);
  std::optional<Kind> kindOf(mlir::Operation *op, bool isWide) const;
  bool isWideOperand(mlir::Operation *op, unsigned operand) const;
  Result<std::optional<View>> inputView(mlir::Value value, bool isWide) const;
  View spreadOver(const View &rowElements) const;
  Sizes outer() const { return Sizes(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(kept)); }
  Sizes walk() const;

  Planner &planner;
  Sizes shape;      ///< of what is wide
  size_t kept = 0;  ///< dimensions of rows
  int64_t rows = 0; ///< 0: not known yet
  int64_t columns = 0;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, Kind> kinds;
  llvm::SmallVector<mlir::Operation *> results;
  llvm::SmallPtrSet<mlir::Operation *, 16> repeated, seen;
  size_t rootReductions = 0;
  /// By value, and whether it is wide.
  llvm::MapVector<std::pair<mlir::Value, unsigned>, View> read;
};

} // namespace torchere::cpu
