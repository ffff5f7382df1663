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

/// Points, of which each of `axes` has a coordinate, and the edges of the bins along each axis.
struct Points {
  Values axes, edges;
};

/// Edges of equal bins along each axis, `counts` has their numbers: between the given ends, or those of the
/// data.
Result<Values> equalEdges(Context &cx, const Args &args, const Values &axes, const Integers &counts) {
  const Argument::List ends = args.isNone("range") ? Argument::List() : args.list("range");
  if (!args.isNone("range") && ends.size() != 2 * axes.size())
    return cx.invalid("got {} numbers as range, expected {}", ends.size(), 2 * axes.size());
  Values edges;
  for (auto [axis, values] : llvm::enumerate(axes)) {
    DType dtype = Context::dtype(values);
    Range range = {cx.constant(0.0, dtype), cx.constant(1.0, dtype)};
    if (ends.empty())
      range = rangeOfData(cx, values, range);
    else
      range = {cx.constant(*ends[2 * axis].as<double>(), dtype),
               cx.constant(*ends[2 * axis + 1].as<double>(), dtype)};
    range = widened(cx, range, 0.5);
    edges.push_back(evenlySpaced(cx, range.low, range.high, counts[axis] + 1));
  }
  return edges;
}

/// Sums of weights, or counts, in bins between edges; as a density their integral is 1.
mlir::Value sumsInBins(Context &cx, const Args &args, const Points &points) {
  Dims count = cx.shape(points.axes.front()), column = count, shape;
  column.push_back(1);
  DType dtype = Context::dtype(points.axes.front());
  mlir::Value weights = cx.full(1.0, dtype, count);
  if (auto given = args.optionalTensor("weight"))
    weights = cx.reshape(*given, count);
  Placement placement;
  Values bins;
  for (auto [axis, values] : llvm::enumerate(points.axes)) {
    mlir::Value edges = points.edges[axis];
    shape.push_back(cx.subtract(cx.size(edges, 0), 1));
    bins.push_back(cx.reshape(binOf(cx, edges, values), column));
    placement.axes.push_back(static_cast<int64_t>(axis));
  }
  placement.coordinates = cx.concatenate(bins, 1);
  Elements sums(
      cx, scatterSlices(cx, cx.full(0.0, dtype, shape), placement, weights, combineUpdate<stablehlo::AddOp>));
  if (!args.boolean("density"))
    return sums;
  mlir::Value total = cx.reduceWith<stablehlo::AddOp>(sums, cx.constant(0.0, dtype), placement.axes);
  sums = sums / sums.with(cx.broadcastTo(total, shape));
  for (auto [axis, edges] : llvm::enumerate(points.edges)) {
    Dim bound = cx.size(edges, 0);
    Elements widths = sums.with(cx.sliceAxis(edges, 0, 1, bound)) -
                      sums.with(cx.sliceAxis(edges, 0, 0, cx.subtract(bound, 1)));
    sums = sums / sums.with(cx.broadcastInDim(widths, shape, {static_cast<int64_t>(axis)}));
  }
  return sums;
}

/// Edges that are given; torch alone sees whether they ascend.
Result<Values> checkedEdges(Context &cx, Values edges) {
  for (mlir::Value each : edges)
    if (Context::rank(each) != 1)
      return cx.invalid("got edges of {} dimensions, expected 1", Context::rank(each));
  return edges;
}

/// Of elements, along one axis.
Result<Values> histogram(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Points points{{cx.reshape(self, {cx.product(cx.shape(self))})}, {}};
  if (args.isTensor("bins")) {
    TORCHERE_ASSIGN(points.edges, checkedEdges(cx, {args.tensor("bins")}));
  } else {
    TORCHERE_ASSIGN(points.edges, equalEdges(cx, args, points.axes, {args.integer("bins")}));
  }
  return Values{sumsInBins(cx, args, points), points.edges.front()};
}

/// The coordinates that the last dimension has, as many as there are bins.
Result<Values> coordinatesOf(Context &cx, const Args &args, size_t count) {
  mlir::Value self = args.tensor("self");
  Dims shape = cx.shape(self);
  if (shape.size() < 2 || count == 0 || !shape.back().is(static_cast<int64_t>(count)))
    return cx.invalid("got {} numbers of bins, expected one for each coordinate in the last dimension",
                      count);
  shape.pop_back();
  Dim points = cx.product(shape);
  mlir::Value rows = cx.reshape(self, {points, Dim(static_cast<int64_t>(count))});
  Values axes;
  for (int64_t axis = 0; axis < static_cast<int64_t>(count); ++axis)
    axes.push_back(cx.reshape(cx.sliceAxis(rows, 1, axis, axis + 1), {points}));
  return axes;
}

Result<Values> edgesOfEqualBins(Context &cx, const Args &args) {
  Integers counts = args.integers("bins");
  TORCHERE_ASSIGN(Values axes, coordinatesOf(cx, args, counts.size()));
  return equalEdges(cx, args, axes, counts);
}

/// Of points, along an axis for each coordinate.
Result<mlir::Value> histogramOfEqualBins(Context &cx, const Args &args) {
  Integers counts = args.integers("bins");
  Points points;
  TORCHERE_ASSIGN(points.axes, coordinatesOf(cx, args, counts.size()));
  TORCHERE_ASSIGN(points.edges, equalEdges(cx, args, points.axes, counts));
  return sumsInBins(cx, args, points);
}

Result<mlir::Value> histogramBetweenEdges(Context &cx, const Args &args) {
  Points points;
  TORCHERE_ASSIGN(points.edges, checkedEdges(cx, args.tensors("bins")));
  TORCHERE_ASSIGN(points.axes, coordinatesOf(cx, args, points.edges.size()));
  return sumsInBins(cx, args, points);
}

} // namespace

#define TORCHERE_DENSITY_OPTIONS "Tensor? weight=None, bool density=False) -> "

void addHistogram(OpTable &table) {
  table.add("aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? "
            "range=None, " TORCHERE_DENSITY_OPTIONS "Tensor[]",
            edgesOfEqualBins);
  table.add("aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? "
            "range=None, " TORCHERE_DENSITY_OPTIONS "Tensor",
            histogramOfEqualBins);
  table.add("aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, " TORCHERE_DENSITY_OPTIONS
            "Tensor",
            histogramBetweenEdges);
  table.add("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", equalBins);
  table.add(
      "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, " TORCHERE_DENSITY_OPTIONS
      "(Tensor hist, Tensor bin_edges)",
      histogram);
  table.add("aten::histogram.bins_tensor(Tensor self, Tensor bins, *, " TORCHERE_DENSITY_OPTIONS
            "(Tensor hist, Tensor bin_edges)",
            histogram);
}

} // namespace torchere::lowering
