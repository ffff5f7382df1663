// Implements sorting with torch's order of floats.
#include "lowering/sorting.h"

#include "lowering/placement.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
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

namespace {

/// By comparing every value with every element of its row.
mlir::Value numberByComparing(Context &cx, mlir::Value rows, mlir::Value values, bool isRight) {
  Dims shape = cx.shape(values);
  Dims pairs = shape;
  pairs.push_back(cx.shape(rows).back());
  auto rank = static_cast<int64_t>(shape.size());
  Integers own(rank);
  std::iota(own.begin(), own.end(), 0);
  Integers ofRows(own.begin(), own.begin() + (Context::rank(rows) - 1));
  ofRows.push_back(rank);
  mlir::Value isStop =
      cx.compare(isRight ? Direction::GT : Direction::GE, cx.broadcastInDim(rows, pairs, ofRows),
                 cx.broadcastInDim(values, pairs, own));
  mlir::Value before = cx.convert(cx.elementwise<stablehlo::NotOp>(isStop), DType::I64);
  return cx.reduceWith<stablehlo::AddOp>(before, cx.constant(int64_t{0}, DType::I64), {rank});
}

/// A zero without its sign, and one NaN for all: total order then is the order of numbers.
mlir::Value withoutKinds(Context &cx, mlir::Value value) {
  mlir::Value zero = cx.fullLike(0.0, value), nan = cx.fullLike(NAN, value);
  mlir::Value plain = cx.select(cx.compare(Direction::EQ, value, zero), zero, value);
  return cx.select(cx.compare(Direction::NE, value, value), nan, plain);
}

/// Whether an element ends what stands before a value, in total order.
mlir::Value stops(Context &cx, mlir::Value element, mlir::Value value, bool isRight) {
  bool isFloat = dtypeInfo(Context::dtype(value)).isFloatingPoint;
  Direction direction = isRight ? Direction::GT : Direction::GE;
  if (!isFloat)
    return cx.compare(direction, element, value);
  return stablehlo::CompareOp::create(cx.builder(), cx.loc(), withoutKinds(cx, element),
                                      withoutKinds(cx, value), direction,
                                      stablehlo::ComparisonType::TOTALORDER);
}

/// By halving, in one row for all values, the places (low, high] where the number may be. As in torch, NaN in
/// the row stops no value, and nothing stops a value that is NaN.
mlir::Value numberByHalving(Context &cx, mlir::Value row, mlir::Value values, bool isRight) {
  Dims shape = cx.shape(values);
  int64_t length = cx.shape(row)[0].constant();
  int64_t turns = llvm::Log2_64_Ceil(static_cast<uint64_t>(length) + 1);
  bool isFloat = dtypeInfo(Context::dtype(row)).isFloatingPoint;
  mlir::Value table = row;
  if (isFloat)
    table = cx.select(cx.compare(Direction::NE, row, row), cx.fullLike(-INFINITY, row), row);
  Values found = repeatTimes(
      cx, cx.constant(turns, DType::I32),
      {cx.full(int64_t{0}, DType::I64, shape), cx.full(length, DType::I64, shape), table, values},
      [&](mlir::Value, const Values &state) {
        mlir::Value low = state[0], high = state[1];
        mlir::Value difference = cx.elementwise<stablehlo::SubtractOp>({high, low});
        mlir::Value half =
            cx.elementwise<stablehlo::DivOp>({difference, cx.fullLike(int64_t{2}, difference)});
        mlir::Value middle = cx.elementwise<stablehlo::AddOp>({low, half});
        mlir::Value element = gatherSlices(cx, state[2], slicesAlong(cx, middle, 0));
        mlir::Value isLeft = stops(cx, element, state[3], isRight);
        return Values{cx.select(isLeft, low, middle), cx.select(isLeft, middle, high), state[2], state[3]};
      });
  if (!isFloat)
    return found[1];
  mlir::Value isNumber = cx.compare(Direction::EQ, values, values);
  return cx.select(isNumber, found[1], cx.full(length, DType::I64, shape));
}

} // namespace

mlir::Value numberBefore(Context &cx, mlir::Value rows, mlir::Value values, bool isRight) {
  constexpr int64_t fewElements = 8; // are compared as soon as they are halved
  bool isOneRow = Context::rank(rows) == 1 && Context::dtype(rows) != DType::Bool;
  if (isOneRow && cx.shape(rows)[0].isConstant() && cx.shape(rows)[0].constant() > fewElements)
    return numberByHalving(cx, rows, values, isRight);
  return numberByComparing(cx, rows, values, isRight);
}

} // namespace torchere::lowering
