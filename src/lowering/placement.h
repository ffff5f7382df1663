// Reads and updates the slices of a tensor at given coordinates: the common part of gathers and scatters.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// The positions of slices. `coordinates` is [places..., axes.size()], integers: element k of its last
/// dimension is an index along `axes[k]` (ascending). A slice covers the other axes completely.
struct Placement {
  mlir::Value coordinates;
  Integers axes;
  int64_t position = 0; ///< how many of the slice's dimensions precede those of the places
};

/// The coordinates of single elements: `index` along `axis`, and along every other axis the element's own
/// position in `index`, which has the rank of the tensor.
Placement elementsAlong(Context &cx, mlir::Value index, int64_t axis);

/// Complete slices along `axis`, one for each element of `index`, whose shape replaces the axis.
Placement slicesAlong(Context &cx, mlir::Value index, int64_t axis);

/// [slice[:position]..., places..., slice[position:]...], the shape of the slices of `value`.
Dims slicesShape(Context &cx, mlir::Value value, const Placement &placement);

/// The slices, in slicesShape.
mlir::Value gatherSlices(Context &cx, mlir::Value value, const Placement &placement);

/// `value` with its slices combined with `updates`, of slicesShape, by `body(old, update)`. The order of
/// updates of one place is undefined.
mlir::Value scatterSlices(Context &cx, mlir::Value value, const Placement &placement, mlir::Value updates,
                          RegionBody body);

/// Bodies for scatterSlices: the update alone, and one op on both.
mlir::Value takeUpdate(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange operands);
template <class Op>
mlir::Value combineUpdate(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange operands) {
  return Op::create(builder, location, mlir::TypeRange{operands[0].getType()}, operands,
                    llvm::ArrayRef<mlir::NamedAttribute>{})
      ->getResult(0);
}

} // namespace torchere::lowering
