// Running sums that loops compute, as programs have them whose lengths were not known.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Loops that add to each element those before it, in rounds that double the distance (Hillis and Steele,
/// Data Parallel Algorithms, 1986), become sums over windows, for which there is a kernel. Their types are
/// static.
void replaceRunningSums(mlir::func::FuncOp function);

} // namespace torchere::cpu
