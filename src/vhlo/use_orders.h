// The order in which a value's uses are listed in memory, which bytecode from version 3 on writes.
#pragma once

#include "vhlo/version.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace torchere::vhlo {

/// The release of upstream's whose writer ours equals to the byte: that of the jaxlib that the tests compare
/// with.
inline constexpr Version peerVersion{1, 17, 0};

/// Orders the uses of each value as StableHLO's own writer does, so that bytes are equal: it creates ops of
/// an older version last, replacing those of its own version. `older` are those of the module. The order has
/// no meaning.
void orderUses(mlir::ModuleOp module, const llvm::DenseSet<mlir::Operation *> &older);

} // namespace torchere::vhlo
