// Implements sorting with torch's order of floats.
#include "lowering/sorting.h"

#include <numeric>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Whether `lhs` stands before `rhs`: NaN is greater than every number, as in torch.
mlir::Value comesBefore(Context &cx, mlir::Value lhs, mlir::Value rhs, bool descending) {
  mlir::Value before = cx.compare(descending ? Direction::GT : Direction::LT, lhs, rhs);
  if (!dtypeInfo(Context::dtype(lhs)).isFloatingPoint)
    return before;
  mlir::Value greater = descending ? lhs : rhs;
  mlir::Value less = descending ? rhs : lhs;
  mlir::Value isNan = cx.compare(Direction::NE, greater, greater);
  mlir::Value isNumber = cx.compare(Direction::EQ, less, less);
  return cx.elementwise<stablehlo::OrOp>({before, cx.elementwise<stablehlo::AndOp>({isNan, isNumber})});
}

} // namespace

Values sortedBy(Context &cx, mlir::Value value, mlir::Value other, int64_t axis, bool descending) {
  return sortTogether(cx, {value, other}, axis, [&](mlir::ValueRange elements) {
    return Values{comesBefore(cx, elements[0], elements[1], descending)};
  });
}

Values sortAlong(Context &cx, mlir::Value value, int64_t axis, bool descending) {
  return sortedBy(cx, value, cx.iota(cx.shape(value), DType::I64, axis), axis, descending);
}

Values orderOfOne(Context &cx, mlir::Value self) {
  return {self, cx.full(int64_t{0}, DType::I64, {})};
}

mlir::Value numberBefore(Context &cx, mlir::Value rows, mlir::Value values, bool isRight) {
  // Every value next to every element of its row.
  Dims shape = cx.shape(values);
  Dims pairs = shape;
  pairs.push_back(cx.shape(rows).back());
  auto rank = static_cast<int64_t>(shape.size());
  Integers own(rank);
  std::iota(own.begin(), own.end(), 0);
  Integers ofRows(own.begin(), own.begin() + (Context::rank(rows) - 1));
  ofRows.push_back(rank);
  mlir::Value stops =
      cx.compare(isRight ? Direction::GT : Direction::GE, cx.broadcastInDim(rows, pairs, ofRows),
                 cx.broadcastInDim(values, pairs, own));
  mlir::Value before = cx.convert(cx.elementwise<stablehlo::NotOp>(stops), DType::I64);
  return cx.reduceWith<stablehlo::AddOp>(before, cx.constant(int64_t{0}, DType::I64), {rank});
}

} // namespace torchere::lowering
