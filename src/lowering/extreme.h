// Where the extreme elements along an axis are.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

struct Extreme {
  mlir::Value value; ///< without the axis
  mlir::Value index; ///< i64
};

/// The extreme element along an axis (`Op` is MaxOp or MinOp) and the first index where it stands; NaN counts
/// as the extreme, as in torch.
template <class Op> Extreme extremeAlong(Context &cx, mlir::Value value, mlir::Value initial, int64_t axis) {
  using Direction = stablehlo::ComparisonDirection;
  Dims shape = cx.shape(value);
  mlir::Value extreme = cx.reduceWith<Op>(value, initial, {axis});
  mlir::Value kept = cx.reshape(extreme, cx.reducedShape(shape, {axis}, /*keep=*/true));
  mlir::Value matches = cx.compare(Direction::EQ, value, cx.broadcastTo(kept, shape));
  if (dtypeInfo(Context::dtype(value)).isFloatingPoint)
    matches = cx.elementwise<stablehlo::OrOp>({matches, cx.compare(Direction::NE, value, value)});
  mlir::Value positions = cx.iota(shape, DType::I64, axis);
  mlir::Value none = cx.highest(Context::elementType(positions));
  mlir::Value candidates = cx.select(matches, positions, cx.broadcastTo(none, shape));
  return {extreme, cx.reduceWith<stablehlo::MinOp>(candidates, none, {axis})};
}

} // namespace torchere::lowering
