// Ops with regions: sorts, loops, and the bodies of reductions.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// The results of a region for its arguments. Builds with the same Context as the op, and may use only its
/// arguments and values derived from them.
using RegionFunction = llvm::function_ref<Values(mlir::ValueRange)>;

/// Adds a region of one block, with arguments of these types, to an op that is about to be created.
void addRegion(Context &cx, mlir::OperationState &operation, mlir::TypeRange arguments,
               RegionFunction function);

/// Adds a region whose construction may fail, and which may capture values.
Status addFallibleRegion(Context &cx, mlir::OperationState &operation, mlir::TypeRange arguments,
                         llvm::function_ref<Result<Values>(mlir::ValueRange)> function);

/// 0-d tensors of the values' element types: the arguments that reductions and sorts pass to their regions.
llvm::SmallVector<mlir::Type> elementTensors(mlir::ValueRange values);

/// Tensors of one shape, sorted together along an axis; the sort is stable. `comesBefore` gets the left and
/// right element of the first tensor, then of the second and so on, and returns an i1.
Values sortTogether(Context &cx, const Values &values, int64_t axis, RegionFunction comesBefore);

/// The values after repeating `body` while `condition` is true. Their types do not change.
Values repeatWhile(Context &cx, const Values &values, RegionFunction condition, RegionFunction body);

/// What `body(step, values)` makes of the values, for steps 0 to `count` - 1. `count` and `step` are 0-d i32.
/// `computes` is what the loop is marked with (stablehlo/loop_attributes.h).
Values repeatTimes(Context &cx, mlir::Value count, const Values &values,
                   llvm::function_ref<Values(mlir::Value, const Values &)> body,
                   llvm::StringRef computes = {});

} // namespace torchere::lowering
