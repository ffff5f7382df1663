// What the fusions match with: constants, rows and columns of a tensor, and whether a subgraph is closed.
#pragma once

#include "cpu/kernels/epilogue.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <optional>

namespace torchere::cpu {

/// The sizes of a tensor.
llvm::ArrayRef<int64_t> dimensionsOf(mlir::Value value);
/// The number that all elements of a constant are.
std::optional<double> splatOf(mlir::Value value);
/// Likewise of integers, of less than 1e9.
std::optional<int64_t> integerOf(mlir::Value value);
/// Whether they are `number`, as far as the type can tell, with some roundings in between.
bool isSplat(mlir::Value value, double number);
bool isNear(double number, double expected, mlir::Type type);

/// The ops that a fusion is about to replace.
class Subgraph {
public:
  /// The value's op, if it is of that kind, as one of them.
  template <class Op> Op take(mlir::Value value) {
    auto op = value.getDefiningOp<Op>();
    if (op)
      ops.insert(op);
    return op;
  }
  void add(mlir::Operation *op) { ops.insert(op); }
  /// Whether the root alone is used outside.
  bool isClosed(mlir::Operation *root) const;

private:
  llvm::SmallPtrSet<mlir::Operation *, 16> ops;
};

/// A tensor as rows: its last dimensions, `trailing` of them, are a row.
struct RowShape {
  int64_t trailing = 1;
  int64_t columns = 1; ///< ShapedType::kDynamic before all of these sizes are bound
};

/// What gives each row one element, where a tensor repeats that along its rows; null for others. It has as
/// many elements as there are rows, in their order, in whatever shape. Before sizes are bound that holds only
/// if it has as many elements as there are rows, as what is computed from a reduction of these rows has.
mlir::Value rowsOf(mlir::Value value, RowShape shape, Subgraph &subgraph);
/// What gives each column one element, where a tensor repeats that for each row.
mlir::Value columnsOf(mlir::Value value, RowShape shape, Subgraph &subgraph);
/// A value without the reshapes, and the roundings of bf16 and f16, that it went through.
mlir::Value withoutReshapes(mlir::Value value, Subgraph &subgraph);

/// Whether the body is the op on its two arguments.
bool appliesOnly(mlir::Region &body, llvm::StringRef name);
/// Whether each element is its own place along the dimension; of few elements that is a constant.
bool arePlaces(mlir::Value value, int64_t dimension);

enum class RowReduction { Sum, Maximum };
/// The operand of a reduction of rows, with their shape; null for another op.
mlir::Value reducedRows(mlir::Value value, RowReduction reduction, RowShape &shape, Subgraph &subgraph);
/// The operand of a mean of rows.
mlir::Value averagedRows(mlir::Value value, RowShape &shape, Subgraph &subgraph);

/// The reduction whose results `value` repeats along the dimension; null for another op.
stablehlo::ReduceOp repeatedReduction(mlir::Value value, int64_t dimension);

/// x, where the value is x * x.
mlir::Value squared(mlir::Value value, Subgraph &subgraph);

/// The activation that the op computes of the value, if it is one.
std::optional<Activation> activationOf(mlir::Operation *op, mlir::Value value);

bool isFloatTensor(mlir::Value value);

} // namespace torchere::cpu
