// Reading and updating the slices of a tensor that coordinates name: what gathers and scatters share.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// Where slices lie. `coordinates` is [places..., axes.size()], integers: element k of its last dimension
/// counts along `axes[k]` (ascending). A slice is whole along the other axes.
struct Placement {
  mlir::Value coordinates;
  Integers axes;
  int64_t position = 0; ///< how many of the slice's dimensions stand before those of the places
};

/// The coordinates of single elements: `index` along `axis`, and along every other axis the element's own
/// place in `index`, which has the rank of the tensor.
Placement elementsAlong(Context &cx, mlir::Value index, int64_t axis);

/// Whole slices along `axis`, one for each element of `index`, whose shape takes the place of the axis.
Placement slicesAlong(Context &cx, mlir::Value index, int64_t axis);

/// [slice[:position]..., places..., slice[position:]...], the shape of the slices of `value`.
Dims slicesShape(Context &cx, mlir::Value value, const Placement &placement);

/// The slices, in slicesShape.
mlir::Value gatherSlices(Context &cx, mlir::Value value, const Placement &placement);

/// `value` with its slices combined with `updates`, of slicesShape, by `body(old, update)`.
/// The order in which updates of one place come is not defined.
mlir::Value scatterSlices(Context &cx, mlir::Value value, const Placement &placement, mlir::Value updates,
                          RegionBody body);

/// Bodies of scatterSlices: the update alone, and one op of both.
mlir::Value takeUpdate(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange operands);
template <class Op>
mlir::Value combineUpdate(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange operands) {
  return Op::create(builder, location, mlir::TypeRange{operands[0].getType()}, operands,
                    llvm::ArrayRef<mlir::NamedAttribute>{})
      ->getResult(0);
}

} // namespace torchere::lowering
