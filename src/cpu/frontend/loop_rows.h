// Loops over rows that do not need each other, as recurrent layers on a batch are.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Cuts such loops, of products of few rows with what stays the same, into loops of some rows each, which run
/// at the same time: threads then do not meet in each turn. How they are cut depends on shapes alone.
void cutLoopRows(mlir::func::FuncOp function);

} // namespace torchere::cpu
