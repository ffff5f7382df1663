// What loops carry and never change.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Values that a loop hands on as they are become values from outside of it. So a weight that a loop carries
/// is known as one in the body, and nothing copies it. So do the constants of its condition.
void freeLoopInvariants(mlir::func::FuncOp function);

} // namespace torchere::cpu
