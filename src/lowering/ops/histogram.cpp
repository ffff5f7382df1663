// Histograms: how many elements lie in each of a number of bins, and what they weigh.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/sorting.h"
#include "lowering/spacing.h"

namespace torchere::lowering {

namespace {

/// The ends of a histogram's range, as 0-d tensors.
struct Range {
  mlir::Value low, high;
};

/// The range of the data, if there are any.
Range rangeOfData(Context &cx, mlir::Value flat, const Range &otherwise) {
  if (cx.size(flat, 0).is(0))
    return otherwise;
  mlir::Type element = Context::elementType(flat);
  return {cx.reduceWith<stablehlo::MinOp>(flat, cx.highest(element), {0}),
          cx.reduceWith<stablehlo::MaxOp>(flat, cx.lowest(element), {0})};
}

/// An empty range is widened on both sides.
Range widened(Context &cx, const Range &range, double by) {
  Elements low(cx, range.low), high(cx, range.high);
  Elements isEmpty = equal(low, high);
  return {isEmpty.select(low - by, low), isEmpty.select(high + by, high)};
}

/// Counts in equal bins, of which the last one holds its upper edge too. What is outside of the range, and
/// NaN, counts nowhere. The range is that of the data where both ends are equal.
mlir::Value equalBins(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  int64_t bins = args.integer("bins");
  DType compute = dtypeInfo(dtype).isFloatingPoint ? computeType(dtype) : DType::F64;
  mlir::Value self = cx.convert(args.tensor("self"), compute);
  mlir::Value flat = cx.reshape(self, {cx.product(cx.shape(self))});
  Range range = {cx.constant(args.scalar("min"), compute), cx.constant(args.scalar("max"), compute)};
  if (toDouble(args.scalar("min")) == toDouble(args.scalar("max")))
    range = widened(cx, rangeOfData(cx, flat, range), 1.0);
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

/// The bin of each value: its place among the edges, of which the last bin holds both. Places of values
/// outside of all bins, and of NaN, are outside too.
mlir::Value binOf(Context &cx, mlir::Value edges, mlir::Value values) {
  Dim count = cx.size(edges, 0);
  mlir::Value before = numberBefore(cx, edges, values, /*isRight=*/true);
  mlir::Value last =
      cx.broadcastTo(cx.reshape(cx.sliceAxis(edges, 0, cx.subtract(count, 1), count), {}), cx.shape(values));
  mlir::Value isLast = cx.compare(stablehlo::ComparisonDirection::EQ, values, last);
  mlir::Value one = cx.fullLike(int64_t{1}, before);
  mlir::Value place = cx.elementwise<stablehlo::SubtractOp>({before, one});
  return cx.select(isLast, cx.elementwise<stablehlo::SubtractOp>({place, one}), place);
}

/// The edges that the op has or makes: of equal bins between the given ends, or those of the data.
Result<mlir::Value> edgesOf(Context &cx, const Args &args, mlir::Value flat) {
  DType dtype = Context::dtype(flat);
  if (args.isTensor("bins"))
    return args.tensor("bins");
  Range range = {cx.constant(0.0, dtype), cx.constant(1.0, dtype)};
  if (args.isNone("range")) {
    range = rangeOfData(cx, flat, range);
  } else {
    const Argument::List &ends = args.list("range");
    if (ends.size() != 2)
      return cx.invalid("got {} numbers as range, expected 2", ends.size());
    range = {cx.constant(*ends[0].as<double>(), dtype), cx.constant(*ends[1].as<double>(), dtype)};
  }
  range = widened(cx, range, 0.5);
  return evenlySpaced(cx, range.low, range.high, args.integer("bins") + 1);
}

/// Sums of weights, or counts, in bins between edges; as a density their integral is 1.
Result<Values> histogram(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  DType dtype = Context::dtype(self);
  mlir::Value flat = cx.reshape(self, {cx.product(cx.shape(self))});
  TORCHERE_ASSIGN(mlir::Value edges, edgesOf(cx, args, flat));
  mlir::Value weights = cx.fullLike(1.0, flat);
  if (auto given = args.optionalTensor("weight"))
    weights = cx.reshape(*given, cx.shape(flat));
  Elements sums(cx, scatterSlices(cx, cx.full(0.0, dtype, cx.resultType().shape),
                                  slicesAlong(cx, binOf(cx, edges, flat), 0), weights,
                                  combineUpdate<stablehlo::AddOp>));
  if (!args.boolean("density"))
    return Values{sums, edges};
  Dim count = cx.size(edges, 0);
  Elements widths = sums.with(cx.sliceAxis(edges, 0, 1, count)) -
                    sums.with(cx.sliceAxis(edges, 0, 0, cx.subtract(count, 1)));
  mlir::Value total = cx.reduceWith<stablehlo::AddOp>(sums, cx.constant(0.0, dtype), {0});
  return Values{sums / sums.with(cx.broadcastTo(total, cx.shape(sums))) / widths, edges};
}

} // namespace

void addHistogram(OpTable &table) {
  table.add("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", equalBins);
  table.add("aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, "
            "bool density=False) -> (Tensor hist, Tensor bin_edges)",
            histogram);
  table.add("aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, "
            "bool density=False) -> (Tensor hist, Tensor bin_edges)",
            histogram);
}

} // namespace torchere::lowering
