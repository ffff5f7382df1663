// Implements softmax: the maximum of each row is subtracted first, so that no exponential overflows.
#include "lowering/softmax.h"

namespace torchere::lowering {

namespace {

/// x - max, its exponential, and the sum of that along the axis.
struct Exponentials {
  Exponentials(Context &cx, mlir::Value value, mlir::Value highest, int64_t axis)
      : shifted(cx.elementwise<stablehlo::SubtractOp>({value, highest})),
        exponential(cx.elementwise<stablehlo::ExpOp>(shifted)),
        sum(cx.reduceWith<stablehlo::AddOp>(exponential, cx.constant(0.0, Context::dtype(value)), {axis})) {}

  mlir::Value shifted, exponential, sum;
};

mlir::Value highestAlong(Context &cx, mlir::Value value, mlir::Value lowest, int64_t axis) {
  return cx.spread(cx.reduceWith<stablehlo::MaxOp>(value, lowest, {axis}), value, {axis});
}

} // namespace

mlir::Value softmaxAlong(Context &cx, mlir::Value value, int64_t axis, MaskedRows masked) {
  mlir::Value lowest = cx.lowest(Context::elementType(value));
  mlir::Value highest = highestAlong(cx, value, lowest, axis), isMasked, zero;
  if (masked == MaskedRows::Zeros) {
    isMasked =
        cx.compare(stablehlo::ComparisonDirection::EQ, highest, cx.broadcastTo(lowest, cx.shape(value)));
    zero = cx.fullLike(0.0, value);
    highest = cx.select(isMasked, zero, highest);
  }
  Exponentials parts(cx, value, highest, axis);
  mlir::Value sum = cx.spread(parts.sum, value, {axis});
  mlir::Value quotient = cx.elementwise<stablehlo::DivOp>({parts.exponential, sum});
  return masked == MaskedRows::Zeros ? cx.select(isMasked, zero, quotient) : quotient;
}

mlir::Value logSoftmaxAlong(Context &cx, mlir::Value value, int64_t axis) {
  mlir::Value lowest = cx.lowest(Context::elementType(value));
  Exponentials parts(cx, value, highestAlong(cx, value, lowest, axis), axis);
  mlir::Value log = cx.elementwise<stablehlo::LogOp>(parts.sum);
  return cx.elementwise<stablehlo::SubtractOp>({parts.shifted, cx.spread(log, value, {axis})});
}

} // namespace torchere::lowering
