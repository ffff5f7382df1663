// StableHLO's module of an artifact's container.
#pragma once

#include "vhlo/container.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace torchere::vhlo {

/// Builds current ops from those of any version; not verified. Errors name `name`.
Result<mlir::OwningOpRef<mlir::ModuleOp>> readModule(mlir::MLIRContext *context, const Container &container,
                                                     std::string_view name);

} // namespace torchere::vhlo
