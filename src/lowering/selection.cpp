// Implements selection by a mask.
#include "lowering/selection.h"

#include "lowering/region.h"

namespace torchere::lowering {

using Direction = stablehlo::ComparisonDirection;

mlir::Value flattened(Context &cx, mlir::Value value) {
  return cx.reshape(value, {cx.product(cx.shape(value))});
}

Order setFirst(Context &cx, mlir::Value mask) {
  Values sorted =
      sortTogether(cx, {mask, cx.iota(cx.shape(mask), DType::I64, 0)}, 0, [&](mlir::ValueRange elements) {
        return Values{cx.compare(Direction::GT, elements[0], elements[1])};
      });
  mlir::Value count =
      cx.reduceWith<stablehlo::AddOp>(cx.convert(mask, DType::I64), cx.constant(int64_t{0}, DType::I64), {0});
  return {sorted[1], count};
}

mlir::Value placesOfSet(Context &cx, mlir::Value mask) {
  Order order = setFirst(cx, mask);
  return cx.sliceAxis(order.places, 0, 0, Dim::computed(order.count));
}

Values coordinatesOf(Context &cx, mlir::Value places, llvm::ArrayRef<Dim> shape) {
  Values columns(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    mlir::Value size = cx.broadcastTo(cx.sizeTensor(shape[i]), cx.shape(places));
    columns[i] = i == 0 ? places : cx.elementwise<stablehlo::RemOp>({places, size});
    places = i == 0 ? places : cx.elementwise<stablehlo::DivOp>({places, size});
  }
  return columns;
}

mlir::Value atLeastOne(Context &cx, mlir::Value value, int64_t axis) {
  Dim size = cx.size(value, axis);
  if (size.isConstant() && size.constant() > 0)
    return value;
  auto rank = static_cast<size_t>(Context::rank(value));
  Dims low(rank, Dim(0)), high(rank, Dim(0));
  high[axis] = cx.maximum(cx.subtract(1, size), 0);
  return cx.pad(value, cx.constant(int64_t{0}, Context::dtype(value)), low, high, Integers(rank, 0));
}

} // namespace torchere::lowering
