// RowDimensions: along which dimension of each value rows lie that ops compute one by one, such as the
// sequences of a batch.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace torchere::cpu {

/// By dimension of the operand: the dimension of the op's result, each of whose indices is computed from that
/// index of the operand alone; -1 if there is none. Nothing for ops that are not known.
std::optional<llvm::SmallVector<int64_t>> dimensionsKept(mlir::OpOperand &operand);

/// By operand: the dimension that this dimension of the op's result is computed along; none for an operand
/// that is the same for all of its indices. Nothing if the op does not keep them apart.
std::optional<llvm::SmallVector<std::optional<int64_t>>> dimensionsBefore(mlir::Operation *op,
                                                                          int64_t dimension);

/// Within a block whose arguments are values of a loop: a turn's results are the arguments of the next one.
class RowDimensions {
public:
  explicit RowDimensions(mlir::Block &body) : body(body) {}
  /// Rows lie along this dimension of the value: finds those of all values that are computed from it, or that
  /// it is computed from. False if some op does not keep rows apart.
  bool spread(mlir::Value value, int64_t dimension);
  std::optional<int64_t> of(mlir::Value value) const;
  /// All values with rows, in no order.
  const llvm::DenseMap<mlir::Value, int64_t> &all() const { return dimensions; }

private:
  bool set(mlir::Value value, int64_t dimension);
  bool setAround(mlir::Operation *op);

  mlir::Block &body;
  llvm::DenseMap<mlir::Value, int64_t> dimensions;
  llvm::SmallVector<mlir::Value> changed;
};

} // namespace torchere::cpu
