// StableHLO's module as a module of portable ops of one version.
#pragma once

#include "vhlo/dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace torchere::vhlo {

struct PortableModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  bool hasUseOrders = false; ///< uses are not listed in the order of the ops alone
};

/// A new module in the same context; the old one is unchanged. An error names the op that `target` cannot
/// hold and the user's source location. `withLocations` keeps the source lines.
Result<PortableModule> toPortable(mlir::ModuleOp module, const Version &target, bool withLocations);

} // namespace torchere::vhlo
