// The order in which a value's uses are listed in memory, which bytecode from version 3 on writes.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace torchere::vhlo {

/// Lists the uses of each value as StableHLO's own writer does, so that bytes are equal: it makes ops of an
/// older version last, in place of the newest version's. `older` are those of the module. The order means
/// nothing.
void orderUses(mlir::ModuleOp module, const llvm::DenseSet<mlir::Operation *> &older);

} // namespace torchere::vhlo
