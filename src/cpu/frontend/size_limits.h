// What the planner's sums and products of sizes may be made of, so that none overflows, and slices.
#pragma once

#include "base/error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Unimplemented unless each value of the function has fewer than mostElements elements, and its windows,
/// their padding and dilations are below that too, as are those of PlanLimits, and each gather whose result
/// has elements takes them from slices that have some. The interpreter, which takes other programs, asks for
/// memory with sizes that it has checked, and refuses such gathers when it comes to one.
Status checkSizes(mlir::func::FuncOp function);

} // namespace torchere::cpu
