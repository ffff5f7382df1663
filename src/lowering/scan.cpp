// Running folds: the loop that doubles how far each element has seen, and what is counted with them.
#include "lowering/scan.h"

#include "lowering/placement.h"
#include "lowering/selection.h"

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Where `i >= distance` along the axis, the fold of element i - distance and element i; elsewhere element i.
Values combineAtDistance(Context &cx, const Values &values, mlir::Value distance, int64_t axis,
                         Combine combine) {
  Dims shape = cx.shape(values[0]);
  mlir::Value places = cx.iota({shape[axis]}, DType::I64, 0);
  mlir::Value spread = cx.broadcastTo(distance, cx.shape(places));
  mlir::Value from = cx.elementwise<stablehlo::SubtractOp>({places, spread}); // below 0 is taken as 0
  Values earlier;
  for (mlir::Value value : values)
    earlier.push_back(gatherSlices(cx, value, slicesAlong(cx, from, axis)));
  mlir::Value reaches = cx.compare(Direction::GE, places, spread);
  reaches = cx.broadcastInDim(reaches, shape, {axis});
  Values results = combine(earlier, values);
  for (auto [result, value] : llvm::zip(results, values))
    result = cx.select(reaches, result, value);
  return results;
}

} // namespace

Values scan(Context &cx, const Values &values, int64_t axis, Combine combine) {
  Values carried = {cx.constant(int64_t{1}, DType::I64)};
  for (mlir::Value value : values)
    carried.push_back(atLeastOne(cx, value, axis)); // there is nothing to gather of none
  auto condition = [&](mlir::ValueRange state) {
    return Values{cx.compare(Direction::LT, state[0], cx.sizeTensor(cx.size(state[1], axis)))};
  };
  auto body = [&](mlir::ValueRange state) {
    Values current(state.begin() + 1, state.end());
    Values results = {cx.elementwise<stablehlo::AddOp>({state[0], state[0]})};
    results.append(combineAtDistance(cx, current, state[0], axis, combine));
    return results;
  };
  Values done = repeatWhile(cx, carried, condition, body), results;
  for (auto [value, result] : llvm::zip(values, llvm::drop_begin(done)))
    results.push_back(cx.sliceAxis(result, axis, 0, cx.size(value, axis)));
  return results;
}

mlir::Value partialSums(Context &cx, mlir::Value value) {
  return runningFold<stablehlo::AddOp>(cx, value, cx.constant(int64_t{0}, Context::dtype(value)), 0);
}

Window windowBefore(mlir::Value value, int64_t axis, int64_t length) {
  Integers ones(Context::rank(value), 1);
  Integers zeros(Context::rank(value), 0);
  Window window = {ones, ones, zeros, zeros, ones};
  window.size[axis] = length;
  window.low[axis] = length - 1;
  return window;
}

mlir::Value numberOfSet(Context &cx, mlir::Value mask) {
  mlir::Value set = cx.convert(mask, DType::I64);
  return cx.elementwise<stablehlo::SubtractOp>({partialSums(cx, set), set});
}

} // namespace torchere::lowering
