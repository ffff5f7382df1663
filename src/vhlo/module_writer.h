// StableHLO's module as a module of portable ops of one version.
#pragma once

#include "vhlo/dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace torchere::vhlo {

/// A new module in the same context; the old one stays as it is. An error names the op that `target` cannot
/// hold and the user's place. `withLocations` keeps the source lines.
Result<mlir::OwningOpRef<mlir::ModuleOp>> toPortable(mlir::ModuleOp module, const Version &target,
                                                     bool withLocations);

} // namespace torchere::vhlo
