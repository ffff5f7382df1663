// Implements the places of samples: nearest, linear and cubic, with and without aligned corners.
#include "lowering/resampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace torchere::lowering {

namespace {

/// The factor of spatial dimension `index` of `count`, from a list of them or from an argument of its own.
std::optional<double> factorOf(const Args &args, size_t index, size_t count) {
  if (args.has("scale_factors")) {
    const auto *list = args.get("scale_factors").as<Argument::List>();
    const double *factor = list && index < list->size() ? (*list)[index].as<double>() : nullptr;
    return factor ? std::optional(*factor) : std::nullopt;
  }
  static constexpr std::string_view names[] = {"scales_d", "scales_h", "scales_w"};
  return args.optionalFloating(count == 1 ? "scales" : names[3 - count + index]);
}

Elements sizeAsFloat(Context &cx, Dim size, DType dtype) {
  return {cx, cx.sizeTensor(size, dtype)};
}

/// Where the first and last elements of both images are at one place; 0 for a single result.
mlir::Value alignedDistance(Context &cx, const ResampledAxis &axis, DType dtype) {
  Elements steps = sizeAsFloat(cx, cx.maximum(cx.subtract(axis.out, 1), 1), dtype);
  return sizeAsFloat(cx, cx.subtract(axis.in, 1), dtype) / steps;
}

Elements resultPlaces(Context &cx, const ResampledAxis &axis, DType dtype) {
  return {cx, cx.iota({axis.out}, dtype, 0)};
}

Elements toEach(Context &cx, mlir::Value number, const Elements &like) {
  return {cx, cx.broadcastTo(number, cx.shape(like))};
}

/// Where on the input axis each result lies, as a fraction.
Elements samplePlaces(Context &cx, const ResampledAxis &axis, bool alignCorners, DType dtype) {
  Elements place = resultPlaces(cx, axis, dtype);
  Elements distance = toEach(cx, sampleDistance(cx, axis, alignCorners, dtype), place);
  return alignCorners ? place * distance : (place + 0.5) * distance - 0.5;
}

/// The index of an element, held inside of the axis.
mlir::Value inside(Context &cx, const ResampledAxis &axis, const Elements &place) {
  mlir::Value index = cx.convert(place, DType::I64);
  mlir::Value last = cx.broadcastTo(cx.sizeTensor(cx.subtract(axis.in, 1)), cx.shape(index));
  mlir::Value low = cx.elementwise<stablehlo::MaxOp>({index, cx.fullLike(int64_t{0}, index)});
  return cx.elementwise<stablehlo::MinOp>({low, last});
}

/// The slope that torch has chosen for the filter.
constexpr double slopeOfFilter = -0.5;

Elements triangle(const Elements &distance) {
  return maximum(1.0 - distance, 0.0);
}

Elements cubic(const Elements &x) {
  return (x < 1.0).select(cubicNear(x, slopeOfFilter), (x < 2.0).select(cubicFar(x, slopeOfFilter), 0.0));
}

/// sin(pi x) / (pi x)
Elements sinc(const Elements &x) {
  Elements angle = x * std::numbers::pi;
  return equal(x, 0.0).select(1.0, sine(angle) / angle);
}

/// Lanczos' kernel of three lobes.
Elements lanczos(const Elements &x) {
  return (x < 3.0).select(sinc(x) * sinc(x / 3.0), 0.0);
}

struct FilterShape {
  double reach; ///< in elements, where an image does not shrink
  Elements (*weight)(const Elements &distance);
};
constexpr FilterShape filterShapes[] = {{1.0, triangle}, {2.0, cubic}, {3.0, lanczos}}; // by Filter

} // namespace

Elements cubicNear(const Elements &x, double a) {
  return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
}

Elements cubicFar(const Elements &x, double a) {
  return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
}

std::vector<ResampledAxis> resampledAxes(const Args &args, llvm::ArrayRef<Dim> in, llvm::ArrayRef<Dim> out) {
  std::vector<ResampledAxis> axes;
  size_t count = in.size() - 2;
  bool isAligned = args.has("align_corners") && args.boolean("align_corners");
  for (size_t i = 0; i < count; ++i) {
    std::optional<double> factor = factorOf(args, i, count);
    bool isSame = in[2 + i] == out[2 + i] && (isAligned || factor.value_or(1.0) == 1.0);
    if (!isSame)
      axes.push_back(
          {static_cast<int64_t>(2 + i), in[2 + i], out[2 + i], factor, factor && args.has("scale_factors")});
  }
  return axes;
}

mlir::Value sampleDistance(Context &cx, const ResampledAxis &axis, bool alignCorners, DType dtype) {
  if (alignCorners)
    return alignedDistance(cx, axis, dtype);
  if (axis.factor)
    return cx.constant(1.0 / *axis.factor, dtype);
  return sizeAsFloat(cx, axis.in, dtype) / sizeAsFloat(cx, axis.out, dtype);
}

Taps nearestTaps(Context &cx, const ResampledAxis &axis, bool isExact, DType dtype) {
  Elements place = resultPlaces(cx, axis, dtype);
  if (isExact)
    place = place + 0.5;
  place = place * toEach(cx, sampleDistance(cx, axis, /*alignCorners=*/false, dtype), place);
  return {{inside(cx, axis, floor(place)), std::nullopt}};
}

/// Of an open size: places are exact where the distance of samples is a power of two.
static std::optional<int64_t> repeatsOfOpenSize(const ResampledAxis &axis) {
  double factor = axis.factor.value_or(0);
  auto count = static_cast<uint64_t>(std::clamp(factor, 0.0, 1024.0));
  bool isExact = axis.isScaled && static_cast<double>(count) == factor && std::has_single_bit(count);
  return isExact ? std::optional(static_cast<int64_t>(count)) : std::nullopt;
}

/// Whether nearestTaps() takes each of `in` elements `count` times: a place's rounding may fall short of a
/// whole number.
template <class Float>
static bool takesEqually(const ResampledAxis &axis, bool isExact, int64_t in, int64_t count) {
  Float distance = axis.factor ? static_cast<Float>(1.0 / *axis.factor)
                               : static_cast<Float>(in) / static_cast<Float>(in * count);
  for (int64_t i = 0; i < in * count; ++i) {
    Float place = (static_cast<Float>(i) + Float(isExact ? 0.5 : 0)) * distance;
    if (std::clamp<int64_t>(static_cast<int64_t>(std::floor(place)), 0, in - 1) != i / count)
      return false;
  }
  return true;
}

std::optional<int64_t> nearestRepeats(const ResampledAxis &axis, bool isExact, DType dtype) {
  if (!axis.in.isConstant() || !axis.out.isConstant())
    return repeatsOfOpenSize(axis);
  int64_t in = axis.in.constant(), out = axis.out.constant();
  if (in <= 0 || out <= 0 || out % in != 0)
    return std::nullopt;
  int64_t count = out / in;
  bool isEqual = dtype == DType::F64 ? takesEqually<double>(axis, isExact, in, count)
                                     : takesEqually<float>(axis, isExact, in, count);
  return isEqual ? std::optional(count) : std::nullopt;
}

Taps linearTaps(Context &cx, const ResampledAxis &axis, bool alignCorners, DType dtype) {
  Elements place = maximum(samplePlaces(cx, axis, alignCorners, dtype), 0.0);
  mlir::Value index = inside(cx, axis, floor(place));
  Elements before(cx, cx.convert(index, dtype));
  Elements share = minimum(maximum(place - before, 0.0), 1.0);
  return {{index, 1.0 - share}, {inside(cx, axis, before + 1.0), share}};
}

Taps cubicTaps(Context &cx, const ResampledAxis &axis, bool alignCorners, DType dtype) {
  Elements place = samplePlaces(cx, axis, alignCorners, dtype);
  Elements start = floor(place);
  Elements share = place - start;
  auto at = [&](double offset) { return inside(cx, axis, start + offset); };
  return {{at(-1.0), cubicFar(share + 1.0, slopeOfCubicTaps)},
          {at(0.0), cubicNear(share, slopeOfCubicTaps)},
          {at(1.0), cubicNear(1.0 - share, slopeOfCubicTaps)},
          {at(2.0), cubicFar(2.0 - share, slopeOfCubicTaps)}};
}

mlir::Value matrixOf(Context &cx, const Taps &taps, const ResampledAxis &axis, DType dtype) {
  Dims shape = {axis.out, axis.in};
  mlir::Value places = cx.iota(shape, DType::I64, 1);
  mlir::Value zero = cx.full(0.0, dtype, shape);
  mlir::Value sum = zero;
  for (const Tap &tap : taps) {
    mlir::Value weight = tap.weight ? *tap.weight : cx.full(1.0, dtype, {axis.out});
    mlir::Value isTaken =
        cx.compare(stablehlo::ComparisonDirection::EQ, places, cx.broadcastInDim(tap.index, shape, {0}));
    sum = cx.elementwise<stablehlo::AddOp>(
        {sum, cx.select(isTaken, cx.broadcastInDim(weight, shape, {0}), zero)});
  }
  return sum;
}

mlir::Value filterMatrix(Context &cx, Filter filter, const ResampledAxis &axis, bool alignCorners,
                         DType dtype) {
  auto [reach, weightAt] = filterShapes[static_cast<size_t>(filter)];
  Dims shape = {axis.out, axis.in};
  Elements distance(cx, cx.broadcastTo(sampleDistance(cx, axis, alignCorners, dtype), shape));
  Elements stretch = maximum(distance, 1.0);
  Elements center = (distance.with(cx.iota(shape, dtype, 0)) + 0.5) * distance;
  Elements place = distance.with(cx.iota(shape, dtype, 1));
  Elements first = floor(maximum(center - stretch * reach + 0.5, 0.0));
  Elements end = floor(center + stretch * reach + 0.5);
  Elements isReached = both(place >= first, place < end);
  Elements offset = abs((place - center + 0.5) / stretch);
  Elements weight = isReached.select(weightAt(offset), 0.0);
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(weight, cx.constant(0.0, dtype), {1});
  Elements total = weight.with(cx.spread(sum, weight, {1}));
  return notEqual(total, total.constant(0.0)).select(weight / total, weight);
}

} // namespace torchere::lowering
