// Reductions of neighbouring rows, whose numbers or first places a tensor has, and their gradient.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/named_fold.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/scan.h"
#include "lowering/segments.h"

#include <numeric>
#include <optional>
#include <string>

namespace torchere::lowering {

namespace {

constexpr llvm::StringRef reductions[] = {"sum", "mean", "max", "min", "prod"};

/// Where each segment begins, and the last one ends: i64 [..., segments + 1].
mlir::Value offsetsOf(Context &cx, const Args &args) {
  if (auto offsets = args.optionalTensor("offsets"))
    return cx.convert(*offsets, DType::I64);
  mlir::Value lengths = cx.convert(*args.optionalTensor("lengths"), DType::I64);
  int64_t last = Context::rank(lengths) - 1;
  Dims first = cx.shape(lengths);
  first[last] = 1;
  mlir::Value ends =
      runningFold<stablehlo::AddOp>(cx, lengths, cx.constant(int64_t{0}, Context::dtype(lengths)), last);
  return cx.concatenate({cx.full(int64_t{0}, DType::I64, first), ends}, last);
}

/// Which segment each row of `data` is in.
struct Segments {
  mlir::Value offsets;
  mlir::Value ids;     ///< i64 [..., rows]; -1 and the number of segments outside of all
  int64_t axis;        ///< of the rows
  Placement placement; ///< of the rows, in what has segments in their place
};

Result<Segments> segmentsOfRows(Context &cx, const Args &args, mlir::Value data) {
  if (!args.optionalTensor("lengths") && !args.optionalTensor("offsets"))
    return cx.invalid("got neither lengths nor offsets, expected one of them");
  mlir::Value offsets = offsetsOf(cx, args);
  int64_t axis = Context::rank(offsets) - 1;
  TORCHERE_ASSIGN(int64_t given, cx.axis(args.integer("axis"), Context::rank(data)));
  if (given != axis)
    return cx.invalid(
        "got axis {} and {} dimensions of {}, expected as many as come before the axis, and one", given,
        axis + 1, args.isNone("offsets") ? "lengths" : "offsets");
  mlir::Value ids = segmentsOf(cx, offsets, cx.size(data, axis));
  return Segments{offsets, ids, axis, elementsAlong(cx, ids, axis)};
}

/// What is one number for all of the last dimensions of `like`, in its shape.
Elements overLast(mlir::Value numbers, const Elements &like) {
  Context &cx = like.maker();
  Integers axes(Context::rank(numbers));
  std::iota(axes.begin(), axes.end(), 0);
  return like.with(cx.broadcastInDim(numbers, cx.shape(like), axes));
}

/// How many rows each segment has, in the shape of `result`.
Elements lengthsOf(Context &cx, const Segments &segments, const Elements &result) {
  Dim count = cx.size(segments.offsets, segments.axis);
  mlir::Value lengths = cx.elementwise<stablehlo::SubtractOp>(
      {cx.sliceAxis(segments.offsets, segments.axis, 1, count),
       cx.sliceAxis(segments.offsets, segments.axis, 0, cx.subtract(count, 1))});
  return overLast(cx.convert(lengths, Context::dtype(result)), result);
}

/// Sums over lengths. A segment of no rows has no mean but the initial value, if one is given.
mlir::Value meanOf(Context &cx, const Args &args, mlir::Value sum, const Segments &segments) {
  Elements total(cx, sum);
  Elements length = lengthsOf(cx, segments, total);
  Elements none = args.optionalScalar("initial") ? total : total.constant(nan);
  return equal(length, 0.0).select(none, total / length);
}

/// The fold of each segment's rows and an initial value; rows outside of all segments count nowhere.
Result<mlir::Value> segmentReduce(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype, compute = computeType(dtype);
  mlir::Value data = cx.convert(args.tensor("data"), compute);
  TORCHERE_ASSIGN(Segments segments, segmentsOfRows(cx, args, data));
  std::optional<Scalar> initial = args.optionalScalar("initial");
  TORCHERE_ASSIGN(NamedFold fold, namedFold(cx, args, reductions, Context::elementType(data)));
  mlir::Value first = initial ? cx.constant(*initial, compute) : fold.neutral;
  mlir::Value result =
      scatterSlices(cx, cx.broadcastTo(first, cx.resultType().shape), segments.placement, data, fold.body);
  if (args.string("reduce") == "mean")
    result = meanOf(cx, args, result, segments);
  return cx.convert(result, dtype);
}

/// What the gradients of all reductions are made of, by row of `data`.
class RowGradients {
public:
  RowGradients(Context &cx, const Segments &segments, const Elements &data, mlir::Value output,
               mlir::Value gradient)
      : cx(cx), segments(segments), data(data), output(cx, output), result(toRows(output)),
        gradient(toRows(gradient)) {}

  Elements ofSum() const { return gradient; }
  Elements ofMean() const { return gradient / toRows(lengthsOf(cx, segments, output)); }

  /// For the rows that are the extremum, or NaN. As in torch, several share a positive gradient, and each has
  /// a negative one.
  Elements ofExtremum() const {
    Elements isTaken = either(isNan(), equal(data, result));
    Elements taken = isTaken.select(gradient, 0.0), count = countOf(isTaken);
    return both(count >= 2.0, taken > 0.0).select(taken / count, taken);
  }

  /// The product over the row; of a row that cannot be divided by, the product of `initial` and the others.
  Elements ofProduct(const Scalar &initial) const {
    Elements isZero = equal(data, 0.0), isSpecial = either(isZero, isNan());
    Elements plain = isSpecial.select(1.0, data);
    mlir::Value first = cx.broadcastTo(cx.constant(initial, Context::dtype(data)), cx.shape(output));
    Elements others =
        toRows(scatterSlices(cx, first, segments.placement, plain, combineUpdate<stablehlo::MulOp>));
    Elements otherZeros = countOf(isZero) - ones(isZero), otherNans = countOf(isNan()) - ones(isNan());
    Elements rest = (otherZeros > 0.0).select(others * 0.0, others);
    rest = (otherNans > 0.0).select(nan, rest);
    return isSpecial.select(gradient * rest, gradient * result / data);
  }

private:
  Elements toRows(mlir::Value ofSegments) const {
    return data.with(gatherSlices(cx, ofSegments, segments.placement));
  }
  Elements isNan() const { return notEqual(data, data); }
  Elements ones(const Elements &bools) const { return bools.select(data.constant(1.0), 0.0); }
  /// How many rows of its segment the bools hold for.
  Elements countOf(const Elements &bools) const {
    return toRows(scatterSlices(cx, cx.fullLike(0.0, output), segments.placement, ones(bools),
                                combineUpdate<stablehlo::AddOp>));
  }

  Context &cx;
  const Segments &segments;
  Elements data, output, result, gradient;
};

Result<Elements> gradientOfRows(Context &cx, const Args &args, const RowGradients &rows, mlir::Type element) {
  TORCHERE_TRY(namedFold(cx, args, reductions, element));
  std::string reduce = args.string("reduce");
  if (reduce == "sum")
    return rows.ofSum();
  if (reduce == "mean")
    return rows.ofMean();
  if (reduce == "prod")
    return rows.ofProduct(args.optionalScalar("initial").value_or(Scalar(1.0)));
  return rows.ofExtremum();
}

/// Rows outside of all segments have none.
Result<mlir::Value> segmentReduceBackward(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype, compute = computeType(dtype);
  Elements data(cx, cx.convert(args.tensor("data"), compute));
  TORCHERE_ASSIGN(Segments segments, segmentsOfRows(cx, args, data));
  RowGradients rows(cx, segments, data, cx.convert(args.tensor("output"), compute),
                    cx.convert(args.tensor("grad"), compute));
  TORCHERE_ASSIGN(Elements gradient, gradientOfRows(cx, args, rows, Context::elementType(data)));
  Elements ids(cx, segments.ids);
  mlir::Value count = cx.sizeTensor(cx.size(args.tensor("output"), segments.axis));
  Elements isInside = both(ids >= 0.0, ids < ids.with(cx.broadcastTo(count, cx.shape(segments.ids))));
  return cx.convert(overLast(isInside, data).select(gradient, 0.0), dtype);
}

} // namespace

void addSegmentReduction(OpTable &table) {
  table.add("aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
            "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
            segmentReduce);
  table.add("aten::_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, "
            "Tensor? lengths=None, Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
            segmentReduceBackward);
}

} // namespace torchere::lowering
