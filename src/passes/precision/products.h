// Dots and convolutions, whose precision passes set.
#pragma once

#include "stablehlo/dialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace torchere::passes {

/// Whether a dot or a convolution asks for no more than DEFAULT, which no `precision_config` means too: it
/// may be computed in quicker and less exact ways.
bool hasDefaultPrecision(mlir::Operation *product);

/// Sets the precision of both operands of each dot and convolution that `isMeant` selects. A dot that names
/// its algorithm says more than a precision could, and stays as it is.
void setPrecision(mlir::ModuleOp module, stablehlo::Precision precision,
                  llvm::function_ref<bool(mlir::Operation *product)> isMeant);

} // namespace torchere::passes
