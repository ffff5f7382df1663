// Group: elementwise ops of one shape that become one vector program.
#pragma once

#include "cpu/frontend/complex_elements.h"
#include "cpu/frontend/planner.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace torchere::cpu {

class Group {
public:
  /// All ops that wait and that the roots, of one shape, are computed from. With `readsIndices` iotas are
  /// read from memory, so that dimensions can be walked in any order.
  Group(Planner &planner, llvm::ArrayRef<mlir::Value> roots, bool readsIndices)
      : planner(planner), shape(shapeOf(roots.front())), readsIndices(readsIndices) {
    collect(roots);
  }

  /// In the order of the block.
  llvm::ArrayRef<mlir::Operation *> members() const { return ops; }
  bool contains(mlir::Operation *op) const { return set.contains(op); }
  bool isNeededOutside(mlir::Operation *op) const {
    return llvm::any_of(op->getUsers(),
                        [&](mlir::Operation *user) { return !contains(user) && !planner.isComputed(user); });
  }
  /// What waits and would be read by the program, also of the roots.
  llvm::SmallVector<mlir::Value> waitingInputs(llvm::ArrayRef<mlir::Value> roots) const;
  /// The program's inputs are read from views, which the planner plans first; so are roots that are no
  /// members.
  Status readInputs(llvm::ArrayRef<mlir::Value> roots);
  /// None if an op has no instruction.
  std::optional<VectorProgram> build(llvm::ArrayRef<mlir::Value> results);
  /// The order of the dimensions of results that only go to blocks of channels, from any strides: the one in
  /// which an input lies in memory. None if that is the order that they have.
  std::optional<Sizes> orderOf(llvm::ArrayRef<mlir::Value> results) const;
  bool walksFreely() const;

  std::vector<View> inputs;

private:
  ElementParts addInput(VectorBuilder &builder, mlir::Value value, const View &view);
  Status readInput(mlir::Value value);
  void collect(llvm::ArrayRef<mlir::Value> roots);
  bool joins(mlir::Value value) const;

  Planner &planner;
  Sizes shape;
  bool readsIndices;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallPtrSet<mlir::Operation *, 32> set;
  llvm::MapVector<mlir::Value, View> read;
};

} // namespace torchere::cpu
