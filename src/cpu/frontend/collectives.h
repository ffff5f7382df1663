// Collectives as seen by one process: exchanges with the others of its group, and ordinary ops.
#pragma once

#include "base/error.h"
#include "interpreter/entry_point.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

/// Replaces all collective ops and ids of processes. `process` is replica * partitions + partition. All
/// processes lower the same function, so that their exchanges have the same numbers. Unimplemented for a root
/// that the program computes and for a computation that is not elementwise; InvalidArgument for groups of
/// processes that there are not.
Status lowerCollectives(mlir::func::FuncOp function, interpreter::ProcessCounts counts, int64_t process);

} // namespace torchere::cpu
