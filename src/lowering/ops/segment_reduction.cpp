// Reductions of neighbouring rows, whose numbers or first places a tensor has.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/named_fold.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/scan.h"
#include "lowering/segments.h"

namespace torchere::lowering {

namespace {

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

/// Sums over lengths. A segment of no rows has no mean but the initial value, if one is given.
mlir::Value meanOf(Context &cx, const Args &args, mlir::Value sum, mlir::Value offsets) {
  int64_t last = Context::rank(offsets) - 1;
  Dim count = cx.size(offsets, last);
  mlir::Value lengths = cx.elementwise<stablehlo::SubtractOp>(
      {cx.sliceAxis(offsets, last, 1, count), cx.sliceAxis(offsets, last, 0, cx.subtract(count, 1))});
  Integers axes;
  for (int64_t axis = 0; axis <= last; ++axis)
    axes.push_back(axis);
  Elements total(cx, sum);
  Elements length =
      total.with(cx.broadcastInDim(cx.convert(lengths, Context::dtype(sum)), cx.shape(sum), axes));
  Elements none = args.optionalScalar("initial") ? total : total.constant(nan);
  return equal(length, 0.0).select(none, total / length);
}

/// The fold of each segment's rows and an initial value; rows outside of all segments count nowhere.
Result<mlir::Value> segmentReduce(Context &cx, const Args &args) {
  if (!args.optionalTensor("lengths") && !args.optionalTensor("offsets"))
    return cx.invalid("got neither lengths nor offsets, expected one of them");
  DType dtype = cx.resultType().dtype, compute = computeType(dtype);
  mlir::Value data = cx.convert(args.tensor("data"), compute), offsets = offsetsOf(cx, args);
  int64_t axis = Context::rank(offsets) - 1;
  TORCHERE_ASSIGN(int64_t given, cx.axis(args.integer("axis"), Context::rank(data)));
  if (given != axis)
    return cx.invalid(
        "got axis {} and {} dimensions of {}, expected as many as come before the axis, and one", given,
        axis + 1, args.isNone("offsets") ? "lengths" : "offsets");
  mlir::Value segments = segmentsOf(cx, offsets, cx.size(data, axis));
  std::optional<Scalar> initial = args.optionalScalar("initial");
  TORCHERE_ASSIGN(NamedFold fold,
                  namedFold(cx, args, {"sum", "mean", "max", "min", "prod"}, Context::elementType(data)));
  mlir::Value first = initial ? cx.constant(*initial, compute) : fold.neutral;
  mlir::Value result = scatterSlices(cx, cx.broadcastTo(first, cx.resultType().shape),
                                     elementsAlong(cx, segments, axis), data, fold.body);
  if (args.string("reduce") == "mean")
    result = meanOf(cx, args, result, offsets);
  return cx.convert(result, dtype);
}

} // namespace

void addSegmentReduction(OpTable &table) {
  table.add("aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
            "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
            segmentReduce);
}

} // namespace torchere::lowering
