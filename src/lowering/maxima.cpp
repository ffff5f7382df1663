// Implements maxima with their places.
#include "lowering/maxima.h"

namespace torchere::lowering {

using Direction = stablehlo::ComparisonDirection;

Maxima reduceMaxima(Context &cx, const Maxima &elements, mlir::Value isInside, int64_t axis) {
  mlir::Value value = elements.values, places = elements.places;
  mlir::Value lowest = cx.lowest(Context::elementType(value));
  mlir::Value none = cx.highest(Context::elementType(places));
  Dims shape = cx.shape(value);
  value = cx.select(isInside, value, cx.broadcastTo(lowest, shape));
  mlir::Value highest = cx.reduceWith<stablehlo::MaxOp>(value, lowest, {axis});
  mlir::Value isHighest = cx.elementwise<stablehlo::AndOp>(
      {isInside, cx.compare(Direction::EQ, value, cx.spread(highest, value, {axis}))});
  mlir::Value candidates = cx.select(isHighest, places, cx.broadcastTo(none, shape));
  mlir::Value first = cx.reduceWith<stablehlo::MinOp>(candidates, none, {axis});
  if (!dtypeInfo(Context::dtype(value)).isFloatingPoint)
    return {highest, first};
  // Of several NaNs the last one counts.
  mlir::Value isNan = cx.compare(Direction::NE, value, value);
  mlir::Value before = cx.fullLike(int64_t{-1}, places);
  mlir::Value last = cx.reduceWith<stablehlo::MaxOp>(cx.select(isNan, places, before),
                                                     cx.constant(int64_t{-1}, DType::I64), {axis});
  mlir::Value hasNan = cx.compare(Direction::NE, highest, highest);
  return {highest, cx.select(hasNan, last, first)};
}

} // namespace torchere::lowering
