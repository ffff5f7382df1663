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

/// By comparing every value with every element of its row: the place of the first that stops it.
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
  mlir::Value end = cx.sizeTensor(pairs.back());
  mlir::Value place = cx.select(isStop, cx.iota(pairs, DType::I64, rank), cx.broadcastTo(end, pairs));
  return cx.reduceWith<stablehlo::MinOp>(place, end, {rank});
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

/// The rows one after another. Where there may be no elements one follows them, so each turn can read one.
mlir::Value tableOf(Context &cx, mlir::Value rows) {
  mlir::Value table = rows;
  if (dtypeInfo(Context::dtype(rows)).isFloatingPoint) // NaN stops no value
    table = cx.select(cx.compare(Direction::NE, rows, rows), cx.fullLike(-INFINITY, rows), rows);
  Dim count = cx.product(cx.shape(rows));
  table = cx.reshape(table, {count});
  if (count.isConstant() && !count.is(0))
    return table;
  return cx.pad(table, cx.constant(int64_t{0}, Context::dtype(rows)), {0}, {1}, {0});
}

/// Where in the table each value's row begins.
mlir::Value firstOfRow(Context &cx, mlir::Value rows, mlir::Value values) {
  Dims shape = cx.shape(values);
  Dims counts = cx.shape(rows);
  Dim length = counts.back();
  counts.pop_back();
  Dim count = cx.product(counts);
  mlir::Value number = cx.reshape(cx.iota({count}, DType::I64, 0), counts);
  Integers axes(counts.size());
  std::iota(axes.begin(), axes.end(), 0);
  mlir::Value size = cx.broadcastTo(cx.sizeTensor(length), shape);
  return cx.elementwise<stablehlo::MulOp>({cx.broadcastInDim(number, shape, axes), size});
}

/// How often a range of so many elements is halved until nothing is left of it: the bits of its length.
mlir::Value turnsOf(Context &cx, Dim length) {
  if (length.isConstant())
    return cx.constant(static_cast<int64_t>(llvm::bit_width(static_cast<uint64_t>(length.constant()))),
                       DType::I32);
  mlir::Value zeros = cx.elementwise<stablehlo::ClzOp>({cx.sizeTensor(length, DType::I32)});
  return cx.elementwise<stablehlo::SubtractOp>({cx.constant(int64_t{32}, DType::I32), zeros});
}

/// By halving, for all values at once, the places (low, high] of their row where the number may be. As in
/// torch, NaN in the row stops no value, and nothing stops a value that is NaN (but torch halves at other
/// middles, so places in rows with NaN may differ). In one row this is the loop that the CPU engine has a
/// kernel for (cpu/frontend/fusion/bisection.cpp).
mlir::Value numberByHalving(Context &cx, mlir::Value rows, mlir::Value values, bool isRight) {
  Dims shape = cx.shape(values);
  Dim length = cx.shape(rows).back();
  mlir::Value end = cx.broadcastTo(cx.sizeTensor(length), shape);
  Values carried = {cx.full(int64_t{0}, DType::I64, shape), end, tableOf(cx, rows), values};
  if (Context::rank(rows) > 1)
    carried.push_back(firstOfRow(cx, rows, values));
  Values found = repeatTimes(cx, turnsOf(cx, length), carried, [&](mlir::Value, const Values &state) {
    mlir::Value low = state[0], high = state[1];
    mlir::Value difference = cx.elementwise<stablehlo::SubtractOp>({high, low});
    mlir::Value half = cx.elementwise<stablehlo::DivOp>({difference, cx.fullLike(int64_t{2}, difference)});
    mlir::Value middle = cx.elementwise<stablehlo::AddOp>({low, half});
    mlir::Value place = state.size() > 4 ? cx.elementwise<stablehlo::AddOp>({state[4], middle}) : middle;
    mlir::Value element = gatherSlices(cx, state[2], slicesAlong(cx, place, 0));
    mlir::Value isLeft = stops(cx, element, state[3], isRight);
    Values next = state;
    next[0] = cx.select(isLeft, low, middle);
    next[1] = cx.select(isLeft, middle, high);
    return next;
  });
  if (!dtypeInfo(Context::dtype(rows)).isFloatingPoint)
    return found[1];
  mlir::Value isNumber = cx.compare(Direction::EQ, values, values);
  return cx.select(isNumber, found[1], end);
}

} // namespace

mlir::Value numberBefore(Context &cx, mlir::Value rows, mlir::Value values, bool isRight) {
  // Fewer elements are compared as soon as they are halved; halving in many rows has no kernel of its own.
  constexpr int64_t fewInOneRow = 8, fewInRows = 24;
  Dim length = cx.shape(rows).back();
  bool isFew =
      length.isConstant() && length.constant() <= (Context::rank(rows) == 1 ? fewInOneRow : fewInRows);
  if (isFew || Context::dtype(rows) == DType::Bool)
    return numberByComparing(cx, rows, values, isRight);
  return numberByHalving(cx, rows, values, isRight);
}

} // namespace torchere::lowering
