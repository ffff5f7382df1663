// Ops that hold computations: sorts, loops, and the regions of reductions.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// What a region gives for its arguments. It builds with the Context that the op is built with, and may use
/// nothing but its arguments and what it makes of them.
using RegionFunction = llvm::function_ref<Values(mlir::ValueRange)>;

/// Adds a region of one block, with arguments of these types, to an op that is about to be made.
void addRegion(Context &cx, mlir::OperationState &operation, mlir::TypeRange arguments,
               RegionFunction function);

/// Adds a region that is filled by what can fail, and may use values from outside of it.
Status addFallibleRegion(Context &cx, mlir::OperationState &operation, mlir::TypeRange arguments,
                         llvm::function_ref<Result<Values>(mlir::ValueRange)> function);

/// 0-d tensors of the values' element types: what reductions and sorts give to their regions.
llvm::SmallVector<mlir::Type> elementTensors(mlir::ValueRange values);

/// Tensors of one shape, sorted together along an axis; equals keep their order. `comesBefore` gets the left
/// and right element of the first tensor, then of the second and so on, and gives an i1.
Values sortTogether(Context &cx, const Values &values, int64_t axis, RegionFunction comesBefore);

/// What `body`, repeated for as long as `condition` gives true, makes of the values. Their types stay.
Values repeatWhile(Context &cx, const Values &values, RegionFunction condition, RegionFunction body);

/// What `body(step, values)` makes of the values, for steps 0 to `count` - 1. `count` and `step` are 0-d i32.
Values repeatTimes(Context &cx, mlir::Value count, const Values &values,
                   llvm::function_ref<Values(mlir::Value, const Values &)> body);

} // namespace torchere::lowering
