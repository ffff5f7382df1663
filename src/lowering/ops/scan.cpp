// Cumulative reductions along a dimension: sums, products, extrema, and sums of exponentials.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/region.h"
#include "lowering/window.h"

#include <cmath>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Combines `earlier` and `later` elements; must be associative.
using Combine = llvm::function_ref<Values(const Values &earlier, const Values &later)>;

/// Where `i >= distance` along the axis, element i - distance combined with element i; elsewhere element i.
Values combineAtDistance(Context &cx, const Values &values, mlir::Value distance, int64_t axis,
                         Combine combine) {
  Dims shape = cx.shape(values[0]);
  mlir::Value places = cx.iota({shape[axis]}, DType::I64, 0);
  mlir::Value spread = cx.broadcastTo(distance, cx.shape(places));
  mlir::Value from =
      cx.elementwise<stablehlo::SubtractOp>({places, spread}); // negative indices are taken as 0
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

/// Element i becomes the combination of elements 0 to i, in a loop of log2(n) iterations, each of which
/// doubles how many elements are combined. The length need not be known.
Values scan(Context &cx, const Values &values, int64_t axis, Combine combine) {
  Values carried = {cx.constant(int64_t{1}, DType::I64)};
  carried.append(values.begin(), values.end());
  auto condition = [&](mlir::ValueRange state) {
    return Values{cx.compare(Direction::LT, state[0], cx.sizeTensor(cx.size(state[1], axis)))};
  };
  auto body = [&](mlir::ValueRange state) {
    Values current(state.begin() + 1, state.end());
    Values results = {cx.elementwise<stablehlo::AddOp>({state[0], state[0]})};
    results.append(combineAtDistance(cx, current, state[0], axis, combine));
    return results;
  };
  Values done = repeatWhile(cx, carried, condition, body);
  return Values(done.begin() + 1, done.end());
}

/// The same by a window as long as the axis that ends at i, which is the form that compilers know best.
template <class Op>
mlir::Value foldWindows(Context &cx, mlir::Value value, const Scalar &initial, int64_t axis, int64_t length) {
  Integers ones(Context::rank(value), 1);
  Integers zeros(Context::rank(value), 0);
  Window window = {ones, ones, zeros, zeros, ones};
  window.size[axis] = length;
  window.low[axis] = length - 1;
  return reduceWindow<Op>(cx, value, cx.constant(initial, Context::dtype(value)), window, cx.shape(value));
}

template <class Op> Result<mlir::Value> running(Context &cx, const Args &args, const Scalar &initial) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return cx.convert(self, dtype);
  Dim length = cx.size(self, axis);
  if (!length.isConstant())
    self = scan(cx, {self}, axis, [&](const Values &earlier, const Values &later) {
      return Values{cx.elementwise<Op>({earlier[0], later[0]})};
    })[0];
  else if (length.constant() > 1)
    self = foldWindows<Op>(cx, self, initial, axis, length.constant());
  return cx.convert(self, dtype);
}

Result<mlir::Value> runningSum(Context &cx, const Args &args) {
  return running<stablehlo::AddOp>(cx, args, int64_t{0});
}

Result<mlir::Value> runningProduct(Context &cx, const Args &args) {
  return running<stablehlo::MulOp>(cx, args, int64_t{1});
}

/// Extreme values and their positions: of equals the later one, and NaN from its first occurrence on.
template <Direction direction> Result<Values> runningExtreme(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return Values{self, cx.full(int64_t{0}, DType::I64, {})};
  mlir::Value places = cx.iota(cx.shape(self), DType::I64, axis);
  return scan(cx, {self, places}, axis, [&](const Values &earlier, const Values &later) {
    mlir::Value replaces = cx.compare(direction, later[0], earlier[0]);
    if (dtypeInfo(Context::dtype(self)).isFloatingPoint)
      replaces = cx.elementwise<stablehlo::OrOp>({replaces, cx.compare(Direction::NE, later[0], later[0])});
    return Values{cx.select(replaces, later[0], earlier[0]), cx.select(replaces, later[1], earlier[1])};
  });
}

/// log(exp(a) + exp(b)) computed from the larger one; equal operands are a special case because of
/// infinities.
Elements logOfSum(const Elements &a, const Elements &b) {
  Elements sum = a.apply<stablehlo::MaxOp>(b) + log1p(exp(-abs(a - b)));
  return a.compare(Direction::EQ, b).select(a + std::log(2.0), sum);
}

Result<mlir::Value> runningLogSum(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  if (dtypeInfo(dtype).isComplex)
    return cx.unimplemented("complex operands are not supported: got {}", dtypeInfo(dtype).torchName);
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return cx.convert(self, dtype);
  Values sums = scan(cx, {self}, axis, [&](const Values &earlier, const Values &later) {
    return Values{logOfSum(Elements(cx, earlier[0]), Elements(cx, later[0]))};
  });
  return cx.convert(sums[0], dtype);
}

} // namespace

void addScan(OpTable &table) {
  table.add("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", runningSum);
  table.add("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", runningProduct);
  table.add("aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
            runningExtreme<Direction::GE>);
  table.add("aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
            runningExtreme<Direction::LE>);
  table.add("aten::logcumsumexp(Tensor self, int dim) -> Tensor", runningLogSum);
}

} // namespace torchere::lowering
