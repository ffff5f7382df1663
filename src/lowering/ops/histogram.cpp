// Histograms: how many elements lie in each of a number of equal bins.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// The ends of a histogram's range, as 0-d tensors.
struct Range {
  mlir::Value low, high;
};

/// The range as given; that of the data where both ends are equal; and widened by 1 if it is empty still.
Range rangeOf(Context &cx, const Args &args, mlir::Value flat) {
  DType dtype = Context::dtype(flat);
  Range range = {cx.constant(args.scalar("min"), dtype), cx.constant(args.scalar("max"), dtype)};
  if (toDouble(args.scalar("min")) != toDouble(args.scalar("max")))
    return range;
  if (!cx.size(flat, 0).is(0)) {
    mlir::Type element = Context::elementType(flat);
    range.low = cx.reduceWith<stablehlo::MinOp>(flat, cx.highest(element), {0});
    range.high = cx.reduceWith<stablehlo::MaxOp>(flat, cx.lowest(element), {0});
  }
  Elements low(cx, range.low), high(cx, range.high);
  Elements isEmpty = equal(low, high);
  return {isEmpty.select(low - 1.0, low), isEmpty.select(high + 1.0, high)};
}

/// Counts in equal bins, of which the last one holds its upper edge too. What is outside of the range, and
/// NaN, counts nowhere.
mlir::Value histogram(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  int64_t bins = args.integer("bins");
  DType compute = dtypeInfo(dtype).isFloatingPoint ? computeType(dtype) : DType::F64;
  mlir::Value self = cx.convert(args.tensor("self"), compute);
  mlir::Value flat = cx.reshape(self, {cx.product(cx.shape(self))});
  Range range = rangeOf(cx, args, flat);
  Elements value(cx, flat);
  Elements low = value.with(cx.broadcastTo(range.low, cx.shape(flat)));
  Elements high = value.with(cx.broadcastTo(range.high, cx.shape(flat)));
  Elements isInside = both(value >= low, value <= high);
  auto count = static_cast<double>(bins);
  Elements bin = minimum((value - low) * count / (high - low), count - 1.0);
  mlir::Value place = cx.convert(isInside.select(bin, count), DType::I64); // past the end
  mlir::Value ones = cx.full(int64_t{1}, DType::I64, cx.shape(flat));
  mlir::Value counts = scatterSlices(cx, cx.full(int64_t{0}, DType::I64, cx.resultType().shape),
                                     slicesAlong(cx, place, 0), ones, combineUpdate<stablehlo::AddOp>);
  return cx.convert(counts, dtype);
}

} // namespace

void addHistogram(OpTable &table) {
  table.add("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", histogram);
}

} // namespace torchere::lowering
