// What TensorFlow's op XlaCallModule cannot run of a module.
#pragma once

#include "base/error.h"

#include "mlir/IR/BuiltinOps.h"

namespace torchere::passes {

/// The error names the first op that it cannot run, and its place; `name` starts it.
Status checkTensorFlowLimits(mlir::ModuleOp module, std::string_view name);

} // namespace torchere::passes
