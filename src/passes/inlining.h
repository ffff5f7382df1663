// Inlining: MLIR's pass on functions of StableHLO.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace torchere::passes {

/// Lets MLIR's `inline` move StableHLO and CHLO ops into the functions that call them. func's own part
/// (mlir::func::registerInlinerExtension) is the tool's to register.
void registerInliner(mlir::DialectRegistry &registry);

} // namespace torchere::passes
