// Resampling of images to other sizes: nearest, linear and cubic, in one to three dimensions.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

#include <vector>

namespace torchere::lowering {

namespace {

/// One axis of an image that is resized.
struct Axis {
  int64_t axis;
  Dim in, out;
  std::optional<double> factor; ///< out / in if the caller gave it; otherwise the quotient of the sizes
};

/// A term of each result along an axis: an input element and its weight.
struct Tap {
  mlir::Value index;                 ///< [out], i64
  std::optional<mlir::Value> weight; ///< [out]; none: 1
};
using Taps = std::vector<Tap>;

/// The weighted sum of input elements, along one axis.
mlir::Value blend(Context &cx, mlir::Value value, int64_t axis, const Taps &taps) {
  mlir::Value sum;
  for (const Tap &tap : taps) {
    mlir::Value part = gatherSlices(cx, value, slicesAlong(cx, tap.index, axis));
    if (tap.weight)
      part = cx.elementwise<stablehlo::MulOp>({part, cx.broadcastInDim(*tap.weight, cx.shape(part), {axis})});
    sum = sum ? cx.elementwise<stablehlo::AddOp>({sum, part}) : part;
  }
  return sum;
}

Elements sizeAsFloat(Context &cx, Dim size, DType dtype) {
  return {cx, cx.sizeTensor(size, dtype)};
}

/// The distance between the samples of neighbouring results, as a 0-d float.
mlir::Value sampleDistance(Context &cx, const Axis &axis, DType dtype) {
  if (axis.factor)
    return cx.constant(1.0 / *axis.factor, dtype);
  return sizeAsFloat(cx, axis.in, dtype) / sizeAsFloat(cx, axis.out, dtype);
}

/// The same if the corners of both images are aligned; 0 for a single result.
mlir::Value alignedDistance(Context &cx, const Axis &axis, DType dtype) {
  Elements steps = sizeAsFloat(cx, cx.maximum(cx.subtract(axis.out, 1), 1), dtype);
  return sizeAsFloat(cx, cx.subtract(axis.in, 1), dtype) / steps;
}

Elements resultPlaces(Context &cx, const Axis &axis, DType dtype) {
  return {cx, cx.iota({axis.out}, dtype, 0)};
}

Elements toEach(Context &cx, mlir::Value number, const Elements &like) {
  return {cx, cx.broadcastTo(number, cx.shape(like))};
}

/// The position of each result on the input axis, as a fractional index.
Elements samplePlaces(Context &cx, const Axis &axis, bool alignCorners, DType dtype) {
  Elements place = resultPlaces(cx, axis, dtype);
  if (alignCorners)
    return place * toEach(cx, alignedDistance(cx, axis, dtype), place);
  return (place + 0.5) * toEach(cx, sampleDistance(cx, axis, dtype), place) - 0.5;
}

/// The index of an element, clamped to the axis.
mlir::Value inside(Context &cx, const Axis &axis, const Elements &place) {
  mlir::Value index = cx.convert(place, DType::I64);
  mlir::Value last = cx.broadcastTo(cx.sizeTensor(cx.subtract(axis.in, 1)), cx.shape(index));
  mlir::Value low = cx.elementwise<stablehlo::MaxOp>({index, cx.fullLike(int64_t{0}, index)});
  return cx.elementwise<stablehlo::MinOp>({low, last});
}

Elements floor(const Elements &x) {
  return x.apply<stablehlo::FloorOp>();
}

/// The element at the sample's position, rounded down; `isExact` samples at the centre of each result.
Taps nearestTaps(Context &cx, const Axis &axis, bool isExact) {
  Elements place =
      resultPlaces(cx, axis, DType::F32); // torch computes nearest-neighbour positions in float32
  if (isExact)
    place = place + 0.5;
  place = place * toEach(cx, sampleDistance(cx, axis, DType::F32), place);
  return {{inside(cx, axis, floor(place)), std::nullopt}};
}

/// The two elements around the sample, weighted by their distance.
Taps linearTaps(Context &cx, const Axis &axis, bool alignCorners, DType dtype) {
  Elements place = maximum(samplePlaces(cx, axis, alignCorners, dtype), 0.0);
  mlir::Value index = inside(cx, axis, floor(place));
  Elements before(cx, cx.convert(index, dtype));
  Elements share = minimum(maximum(place - before, 0.0), 1.0);
  return {{index, 1.0 - share}, {inside(cx, axis, before + 1.0), share}};
}

/// Keys' cubic kernel with a = -0.75, for distances up to 1 and from 1 to 2.
constexpr double keys = -0.75;

Elements cubicNear(const Elements &x) {
  return ((keys + 2.0) * x - (keys + 3.0)) * x * x + 1.0;
}

Elements cubicFar(const Elements &x) {
  return ((keys * x - 5.0 * keys) * x + 8.0 * keys) * x - 4.0 * keys;
}

/// The four elements around the sample; those beyond the border are clamped to it.
Taps cubicTaps(Context &cx, const Axis &axis, bool alignCorners, DType dtype) {
  Elements place = samplePlaces(cx, axis, alignCorners, dtype);
  Elements start = floor(place);
  Elements share = place - start;
  auto at = [&](double offset) { return inside(cx, axis, start + offset); };
  return {{at(-1.0), cubicFar(share + 1.0)},
          {at(0.0), cubicNear(share)},
          {at(1.0), cubicNear(1.0 - share)},
          {at(2.0), cubicFar(2.0 - share)}};
}

/// The scale factor of spatial dimension `index`, from a list or from an argument of its own.
std::optional<double> factorOf(const Args &args, size_t index, size_t count) {
  if (args.has("scale_factors")) {
    const auto *list = args.get("scale_factors").as<Argument::List>();
    const double *factor = list && index < list->size() ? (*list)[index].as<double>() : nullptr;
    return factor ? std::optional(*factor) : std::nullopt;
  }
  static constexpr std::string_view names[] = {"scales_d", "scales_h", "scales_w"};
  return args.optionalFloating(count == 1 ? "scales" : names[3 - count + index]);
}

/// The spatial axes whose sizes change.
std::vector<Axis> changedAxes(Context &cx, const Args &args, mlir::Value value) {
  Dims shape = cx.shape(value);
  size_t count = shape.size() - 2;
  std::vector<Axis> axes;
  for (size_t i = 0; i < count; ++i) {
    Axis axis = {static_cast<int64_t>(2 + i), shape[2 + i], cx.resultType().shape[2 + i],
                 factorOf(args, i, count)};
    if (!(axis.in == axis.out))
      axes.push_back(axis);
  }
  return axes;
}

mlir::Value image(const Args &args) {
  return args.tensor(args.has("input") ? "input" : "self");
}

template <bool isExact> mlir::Value nearest(Context &cx, const Args &args) {
  mlir::Value value = image(args);
  for (const Axis &axis : changedAxes(cx, args, value))
    value = blend(cx, value, axis.axis, nearestTaps(cx, axis, isExact));
  return value;
}

template <auto tapsOf> Result<mlir::Value> interpolated(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  if (!dtypeInfo(dtype).isFloatingPoint)
    return cx.unimplemented("integers are not supported: got {}, expected a floating-point dtype",
                            dtypeInfo(dtype).torchName);
  DType compute = computeType(dtype);
  mlir::Value value = cx.convert(image(args), compute);
  for (const Axis &axis : changedAxes(cx, args, value))
    value = blend(cx, value, axis.axis, tapsOf(cx, axis, args.boolean("align_corners"), compute));
  return cx.convert(value, dtype);
}

/// A row for an op that takes a list of sizes or of factors.
template <class Function>
void addByList(OpTable &table, const std::string &name, const std::string &options, Function function) {
  table.add(
      fmt::format("aten::{}.vec(Tensor input, SymInt[]? output_size, {}float[]? scale_factors) -> Tensor",
                  name, options),
      function);
}

/// A row for an op that takes sizes, and a factor for each dimension.
template <class Function>
void addBySize(OpTable &table, const std::string &name, size_t rank, const std::string &options,
               Function function) {
  static const std::string factors[] = {"float? scales=None", "float? scales_h=None, float? scales_w=None",
                                        "float? scales_d=None, float? scales_h=None, float? scales_w=None"};
  table.add(fmt::format("aten::{}(Tensor self, SymInt[{}] output_size, {}{}) -> Tensor", name, rank, options,
                        factors[rank - 1]),
            function);
}

} // namespace

void addResample(OpTable &table) {
  for (size_t rank = 1; rank <= 3; ++rank) {
    std::string plain = fmt::format("upsample_nearest{}d", rank);
    std::string exact = fmt::format("_upsample_nearest_exact{}d", rank);
    addByList(table, plain, "", nearest<false>);
    addBySize(table, plain, rank, "", nearest<false>);
    addByList(table, exact, "", nearest<true>);
    addBySize(table, exact, rank, "", nearest<true>);
  }
  // torch decomposes the two-dimensional variants that take sizes before a lowering can see them.
  const std::string corners = "bool align_corners, ";
  addByList(table, "upsample_linear1d", corners, interpolated<linearTaps>);
  addBySize(table, "upsample_linear1d", 1, corners, interpolated<linearTaps>);
  addByList(table, "upsample_bilinear2d", corners, interpolated<linearTaps>);
  addByList(table, "upsample_bicubic2d", corners, interpolated<cubicTaps>);
  addByList(table, "upsample_trilinear3d", corners, interpolated<linearTaps>);
  addBySize(table, "upsample_trilinear3d", 3, corners, interpolated<linearTaps>);
}

} // namespace torchere::lowering
