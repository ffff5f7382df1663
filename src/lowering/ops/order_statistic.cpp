// Elements that their place in an order singles out, or their number: kthvalue, median, mode.
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/scan.h"
#include "lowering/sorting.h"

#include <limits>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Element `place` of each sorted row, and where it stood if the op gives that; `place` has the rows' shape,
/// with size 1 on the axis.
Values takeSorted(Context &cx, const Values &sorted, int64_t axis, mlir::Value place) {
  Values results;
  for (size_t i = 0; i < cx.resultCount(); ++i) {
    mlir::Value taken = gatherSlices(cx, sorted[i], elementsAlong(cx, place, axis));
    results.push_back(cx.reshape(taken, cx.resultType(i).shape));
  }
  return results;
}

/// The k-th smallest element, counted from 1; NaN is greater than every number.
Result<Values> kthValue(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return orderOfOne(cx, self);
  Dims rows = cx.shape(self);
  rows[axis] = 1;
  mlir::Value place = cx.broadcastTo(cx.sizeTensor(cx.subtract(args.dim("k"), 1)), rows);
  return takeSorted(cx, sortAlong(cx, self, axis, /*descending=*/false), axis, place);
}

/// How many elements along the axis are numbers; the axis is kept.
mlir::Value countNumbers(Context &cx, mlir::Value self, int64_t axis) {
  Dims rows = cx.reducedShape(cx.shape(self), {axis}, /*keep=*/true);
  if (!dtypeInfo(Context::dtype(self)).isFloatingPoint)
    return cx.broadcastTo(cx.sizeTensor(cx.size(self, axis)), rows);
  mlir::Value isNumber = cx.convert(cx.compare(Direction::EQ, self, self), DType::I64);
  mlir::Value zero = cx.constant(int64_t{0}, DType::I64);
  return cx.reshape(cx.reduceWith<stablehlo::AddOp>(isNumber, zero, {axis}), rows);
}

/// The lower of the middle elements. Where there is a NaN, the first NaN, unless those are ignored.
Values medianAlong(Context &cx, mlir::Value self, int64_t axis, bool ignoresNan) {
  mlir::Value numbers = countNumbers(cx, self, axis);
  Dims rows = cx.shape(numbers);
  mlir::Value all = cx.broadcastTo(cx.sizeTensor(cx.size(self, axis)), rows);
  mlir::Value counted = ignoresNan ? numbers : all;
  mlir::Value less = cx.elementwise<stablehlo::SubtractOp>({counted, cx.fullLike(int64_t{1}, counted)});
  less = cx.elementwise<stablehlo::MaxOp>({less, cx.fullLike(int64_t{0}, less)});
  mlir::Value place = cx.elementwise<stablehlo::DivOp>({less, cx.fullLike(int64_t{2}, less)});
  if (!ignoresNan)
    place = cx.select(cx.compare(Direction::LT, numbers, all), numbers, place);
  return takeSorted(cx, sortAlong(cx, self, axis, /*descending=*/false), axis, place);
}

template <bool ignoresNan> Result<Values> medianOfRows(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  return Context::rank(self) == 0 ? orderOfOne(cx, self) : medianAlong(cx, self, axis, ignoresNan);
}

template <bool ignoresNan> mlir::Value median(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  mlir::Value flat = cx.reshape(self, {cx.product(cx.shape(self))});
  if (!cx.size(flat, 0).is(0))
    return medianAlong(cx, flat, 0, ignoresNan)[0];
  const DTypeInfo &info = dtypeInfo(Context::dtype(self));
  if (info.isFloatingPoint || info.isComplex)
    return cx.constant(std::numeric_limits<double>::quiet_NaN(), info.dtype);
  return cx.lowest(Context::elementType(self));
}

/// Of each sorted row, how many elements up to this one are equal to it.
mlir::Value runLengths(Context &cx, mlir::Value sorted, int64_t axis) {
  Dims shape = cx.shape(sorted);
  mlir::Value places = cx.iota(shape, DType::I64, axis);
  mlir::Value zero = cx.fullLike(int64_t{0}, places);
  mlir::Value before =
      cx.withShape(cx.concatenate({cx.sliceAxis(sorted, axis, 0, 1),
                                   cx.sliceAxis(sorted, axis, 0, cx.subtract(shape[axis], 1))},
                                  axis),
                   shape);
  mlir::Value starts = cx.select(cx.compare(Direction::NE, sorted, before), places, zero);
  mlir::Value start =
      runningFold<stablehlo::MaxOp>(cx, starts, cx.constant(int64_t{0}, Context::dtype(starts)), axis);
  return cx.elementwise<stablehlo::SubtractOp>({places, start});
}

/// The element that comes most often, the least one of several, and where it stood last.
Result<Values> mode(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return orderOfOne(cx, self);
  Values sorted = sortAlong(cx, self, axis, /*descending=*/false);
  mlir::Value lengths = runLengths(cx, sorted[0], axis);
  mlir::Value longest = cx.reduceWith<stablehlo::MaxOp>(lengths, cx.constant(int64_t{0}, DType::I64), {axis});
  mlir::Value isLongest = cx.compare(Direction::EQ, lengths, cx.spread(longest, lengths, {axis}));
  mlir::Value places = cx.iota(cx.shape(self), DType::I64, axis);
  mlir::Value none = cx.highest(Context::elementType(places));
  mlir::Value ends = cx.select(isLongest, places, cx.broadcastTo(none, cx.shape(places)));
  mlir::Value first = cx.reduceWith<stablehlo::MinOp>(ends, none, {axis});
  Dims rows = cx.reducedShape(cx.shape(self), {axis}, /*keep=*/true);
  return takeSorted(cx, sorted, axis, cx.reshape(first, rows));
}

} // namespace

void addOrderStatistic(OpTable &table) {
  table.add("aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) "
            "-> (Tensor values, Tensor indices)",
            kthValue);
  table.add("aten::median(Tensor self) -> Tensor", median<false>);
  table.add("aten::nanmedian(Tensor self) -> Tensor", median<true>);
  table.add("aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
            medianOfRows<false>);
  table.add(
      "aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      medianOfRows<true>);
  table.add("aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
            mode);
}

} // namespace torchere::lowering
