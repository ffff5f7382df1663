// Sampling of images at the places that a grid names: grid_sampler in two and three dimensions, and its
// gradients.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/resampling.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace torchere::lowering {

namespace {

/// at::native's numbers.
enum Interpolation : int64_t { Linear = 0, Nearest = 1, Cubic = 2 };
enum Padding : int64_t { Zeros = 0, Border = 1, Reflection = 2 };

/// One spatial axis of the input, as samples along it are placed.
struct SampledAxis {
  Elements size;  ///< of the input, at each sample
  Elements place; ///< of the sample, in elements of the input
};

/// An input element along one axis for each sample.
struct Neighbour {
  mlir::Value index; ///< i64, within the input
  Elements weight;   ///< 0 where the element is outside of it
  Elements slope;    ///< the weight's derivative by the place; 0 there, too
};

/// From -1..1 to the places of elements: the middles of the first and last one with align_corners, else
/// their outer edges.
Elements elementPlace(const Elements &coordinate, const Elements &size, bool alignCorners) {
  if (alignCorners)
    return (coordinate + 1.0) / 2.0 * (size - 1.0);
  return ((coordinate + 1.0) * size - 1.0) / 2.0;
}

/// The derivative of elementPlace().
Elements elementPlaceSlope(const Elements &size, bool alignCorners) {
  return (alignCorners ? size - 1.0 : size) / 2.0;
}

/// Places are thrown back and forth between `low` and `low + span`: the middles of the first and last element
/// with align_corners, else their outer edges.
struct Mirrors {
  double low;
  Elements span;
};

Mirrors mirrorsOf(const Elements &size, bool alignCorners) {
  return alignCorners ? Mirrors{0.0, size - 1.0} : Mirrors{-0.5, size};
}

/// Whether a place is thrown back an even number of times, from `low` on.
Elements isFlippedBack(const Elements &distance, const Mirrors &mirrors) {
  Elements flips = floor(distance / mirrors.span);
  return equal(flips.apply<stablehlo::RemOp>(flips.constant(2.0)), 0.0);
}

Elements reflected(const Elements &place, const Mirrors &mirrors) {
  Elements distance = abs(place - mirrors.low);
  Elements rest = distance.apply<stablehlo::RemOp>(mirrors.span);
  Elements result =
      isFlippedBack(distance, mirrors).select(rest + mirrors.low, mirrors.span - rest + mirrors.low);
  return equal(mirrors.span, 0.0).select(0.0, result);
}

/// The derivative of reflected(): 1 on the way there, -1 on the way back.
Elements reflectedSlope(const Elements &place, const Mirrors &mirrors) {
  Elements offset = place - mirrors.low;
  Elements sign = (offset < 0.0).select(-1.0, place.constant(1.0));
  Elements slope = isFlippedBack(abs(offset), mirrors).select(sign, -sign);
  return equal(mirrors.span, 0.0).select(0.0, slope);
}

/// A place between the mirrors, if the padding has some; the outer halves of elements are outside yet.
Elements turned(const Elements &place, const Elements &size, Padding padding, bool alignCorners) {
  return padding == Reflection ? reflected(place, mirrorsOf(size, alignCorners)) : place;
}

/// A place inside of the input, unless what is outside counts as zeros.
Elements padded(const Elements &place, const Elements &size, Padding padding, bool alignCorners) {
  if (padding == Zeros)
    return place;
  return minimum(maximum(turned(place, size, padding, alignCorners), 0.0), size - 1.0);
}

/// The derivative of padded(): 0 at the first and last element and beyond.
Elements paddedSlope(const Elements &place, const Elements &size, Padding padding, bool alignCorners) {
  Elements one = place.constant(1.0);
  if (padding == Zeros)
    return one;
  Elements inside = turned(place, size, padding, alignCorners);
  Elements slope = padding == Reflection ? reflectedSlope(place, mirrorsOf(size, alignCorners)) : one;
  return both(inside > 0.0, inside < size - 1.0).select(slope, 0.0);
}

/// The element at a whole place, which counts only if it is inside.
Neighbour neighbourAt(Context &cx, const Elements &place, const Elements &size, const Elements &weight,
                      const Elements &slope) {
  Elements isInside = both(place >= 0.0, place <= size - 1.0);
  return {cx.convert(isInside.select(place, 0.0), DType::I64), isInside.select(weight, 0.0),
          isInside.select(slope, 0.0)};
}

/// One on each axis.
using Neighbours = std::vector<const Neighbour *>;

std::vector<Neighbour> linearNeighbours(Context &cx, const SampledAxis &axis) {
  Elements before = floor(axis.place);
  Elements share = axis.place - before;
  return {neighbourAt(cx, before, axis.size, 1.0 - share, share.constant(-1.0)),
          neighbourAt(cx, before + 1.0, axis.size, share, share.constant(1.0))};
}

std::vector<Neighbour> nearestNeighbour(Context &cx, const SampledAxis &axis) {
  Elements place = axis.place.apply<stablehlo::RoundNearestEvenOp>();
  return {neighbourAt(cx, place, axis.size, place.constant(1.0), place.constant(0.0))};
}

/// The four elements around; each is padded on its own.
std::vector<Neighbour> cubicNeighbours(Context &cx, const SampledAxis &axis, Padding padding,
                                       bool alignCorners) {
  constexpr double keys = slopeOfCubicTaps;
  Elements start = floor(axis.place);
  Elements share = axis.place - start;
  auto nearSlope = [](const Elements &x) { return (3.0 * (keys + 2.0) * x - 2.0 * (keys + 3.0)) * x; };
  auto farSlope = [](const Elements &x) { return (3.0 * keys * x - 10.0 * keys) * x + 8.0 * keys; };
  auto at = [&](double offset, const Elements &weight, const Elements &slope) {
    return neighbourAt(cx, padded(start + offset, axis.size, padding, alignCorners), axis.size, weight,
                       slope);
  };
  Elements after = 1.0 - share;
  return {at(-1.0, cubicFar(share + 1.0, keys), farSlope(share + 1.0)),
          at(0.0, cubicNear(share, keys), nearSlope(share)),
          at(1.0, cubicNear(after, keys), -nearSlope(after)),
          at(2.0, cubicFar(2.0 - share, keys), -farSlope(2.0 - share))};
}

/// What the caller asks for.
struct Sampling {
  Interpolation interpolation;
  Padding padding;
  bool alignCorners;
};

std::vector<Neighbour> neighboursAlong(Context &cx, const SampledAxis &axis, const Sampling &sampling) {
  if (sampling.interpolation == Cubic)
    return cubicNeighbours(cx, axis, sampling.padding, sampling.alignCorners);
  SampledAxis inside = {axis.size, padded(axis.place, axis.size, sampling.padding, sampling.alignCorners)};
  return sampling.interpolation == Linear ? linearNeighbours(cx, inside) : nearestNeighbour(cx, inside);
}

/// Coordinate `index` of the grid, whose last dimension counts the axes from the last one.
Elements gridCoordinate(Context &cx, mlir::Value grid, int64_t index) {
  Dims places = cx.shape(grid);
  auto last = static_cast<int64_t>(places.size()) - 1;
  places.pop_back();
  return {cx, cx.reshape(cx.sliceAxis(grid, last, index, index + 1), places)};
}

/// Where the elements at one neighbour of each axis are; slices are [channels, samples...].
Placement placementOf(Context &cx, const Neighbours &chosen) {
  Dims places = cx.shape(chosen[0]->index);
  Dims column = places;
  column.push_back(Dim(1));
  Values columns = {cx.reshape(cx.iota(places, DType::I64, 0), column)};
  Placement placement;
  placement.axes = {0};
  for (size_t i = 0; i < chosen.size(); ++i) {
    columns.push_back(cx.reshape(chosen[i]->index, column));
    placement.axes.push_back(static_cast<int64_t>(i) + 2);
  }
  placement.coordinates = cx.concatenate(columns, static_cast<int64_t>(places.size()));
  placement.position = 1;
  return placement;
}

/// The product of the neighbours' weights; on the axis `sloped` the slope in place of the weight.
Elements weightOf(const Neighbours &chosen, std::optional<size_t> sloped = {}) {
  auto factor = [&](size_t axis) { return axis == sloped ? chosen[axis]->slope : chosen[axis]->weight; };
  Elements weight = factor(0);
  for (size_t axis = 1; axis < chosen.size(); ++axis)
    weight = weight * factor(axis);
  return weight;
}

/// Every choice of a neighbour on each axis.
std::vector<Neighbours> choicesOf(const std::vector<std::vector<Neighbour>> &axes) {
  std::vector<Neighbours> choices = {{}};
  for (const std::vector<Neighbour> &axis : axes) {
    std::vector<Neighbours> longer;
    for (const Neighbours &choice : choices)
      for (const Neighbour &neighbour : axis) {
        longer.push_back(choice);
        longer.back().push_back(&neighbour);
      }
    choices = std::move(longer);
  }
  return choices;
}

mlir::Value scaled(Context &cx, mlir::Value elements, const Elements &weight) {
  return cx.elementwise<stablehlo::MulOp>({elements, cx.broadcastTo(weight, cx.shape(elements))});
}

mlir::Value plus(Context &cx, mlir::Value sum, mlir::Value part) {
  return sum ? cx.elementwise<stablehlo::AddOp>({sum, part}) : part;
}

/// Batch and channels change places, as in slices.
mlir::Value channelsFirst(Context &cx, mlir::Value image) {
  Integers order(Context::rank(image));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return cx.transpose(image, order);
}

/// The arguments that the op and its gradient have, in the type that they are computed in.
struct Samples {
  mlir::Value input;
  Sampling sampling;
  std::vector<SampledAxis> axes;                  ///< not padded
  std::vector<std::vector<Neighbour>> neighbours; ///< by axis
};

Result<Samples> samplesOf(Context &cx, const Args &args, size_t spatialRank) {
  int64_t interpolation = args.integer("interpolation_mode"), padding = args.integer("padding_mode");
  int64_t last = spatialRank == 2 ? Cubic : Nearest;
  if (interpolation < Linear || interpolation > last)
    return cx.invalid("unknown interpolation_mode: got {}, expected 0 to {}", interpolation, last);
  if (padding < Zeros || padding > Reflection)
    return cx.invalid("unknown padding_mode: got {}, expected 0 to 2", padding);
  Samples samples;
  samples.sampling = {static_cast<Interpolation>(interpolation), static_cast<Padding>(padding),
                      args.boolean("align_corners")};
  DType compute = computeType(Context::dtype(args.tensor("input")));
  samples.input = cx.convert(args.tensor("input"), compute);
  mlir::Value grid = cx.convert(args.tensor("grid"), compute);
  for (size_t i = 0; i < spatialRank; ++i) {
    Elements coordinate = gridCoordinate(cx, grid, static_cast<int64_t>(spatialRank - 1 - i));
    Dim elements = cx.size(samples.input, static_cast<int64_t>(2 + i));
    Elements size = coordinate.with(cx.broadcastTo(cx.sizeTensor(elements, compute), cx.shape(coordinate)));
    samples.axes.push_back({size, elementPlace(coordinate, size, samples.sampling.alignCorners)});
    samples.neighbours.push_back(neighboursAlong(cx, samples.axes.back(), samples.sampling));
  }
  return samples;
}

template <size_t spatialRank> Result<mlir::Value> gridSampler(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Samples samples, samplesOf(cx, args, spatialRank));
  mlir::Value sum;
  for (const Neighbours &chosen : choicesOf(samples.neighbours)) {
    mlir::Value elements = gatherSlices(cx, samples.input, placementOf(cx, chosen));
    sum = plus(cx, sum, scaled(cx, elements, weightOf(chosen)));
  }
  return cx.convert(channelsFirst(cx, sum), cx.resultType().dtype);
}

/// Each sample's gradient goes to its neighbours, by their weights. `gradient` is [channels, samples...].
mlir::Value inputGradient(Context &cx, const Samples &samples, mlir::Value gradient) {
  mlir::Value sums = cx.fullLike(0.0, samples.input);
  for (const Neighbours &chosen : choicesOf(samples.neighbours))
    sums = scatterSlices(cx, sums, placementOf(cx, chosen), scaled(cx, gradient, weightOf(chosen)),
                         combineUpdate<stablehlo::AddOp>);
  return sums;
}

/// How the samples change with the place on each axis, times their gradients, summed over the channels.
mlir::Value gridGradient(Context &cx, const Samples &samples, mlir::Value gradient) {
  Values sums(samples.axes.size());
  for (const Neighbours &chosen : choicesOf(samples.neighbours)) {
    mlir::Value elements = gatherSlices(cx, samples.input, placementOf(cx, chosen));
    mlir::Value products = cx.elementwise<stablehlo::MulOp>({elements, gradient});
    mlir::Value dot =
        cx.reduceWith<stablehlo::AddOp>(products, cx.constant(0.0, Context::dtype(products)), {0});
    for (size_t axis = 0; axis < sums.size(); ++axis)
      sums[axis] = plus(cx, sums[axis], scaled(cx, dot, weightOf(chosen, axis)));
  }
  Dims column = cx.shape(sums[0]);
  auto last = static_cast<int64_t>(column.size());
  column.push_back(Dim(1));
  const Sampling &sampling = samples.sampling;
  for (size_t i = 0; i < sums.size(); ++i) {
    const SampledAxis &axis = samples.axes[i];
    Elements slope = elementPlaceSlope(axis.size, sampling.alignCorners);
    if (sampling.interpolation != Cubic) // which pads its neighbours
      slope = slope * paddedSlope(axis.place, axis.size, sampling.padding, sampling.alignCorners);
    sums[i] = cx.reshape(scaled(cx, sums[i], slope), column);
  }
  std::reverse(sums.begin(), sums.end()); // the grid counts the axes from the last one
  return cx.concatenate(sums, last);
}

/// The gradients of the input, if output_mask asks for it, and of the grid.
template <size_t spatialRank> Result<Values> gridSamplerBackward(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Samples samples, samplesOf(cx, args, spatialRank));
  DType dtype = Context::dtype(args.tensor("input")), compute = Context::dtype(samples.input);
  mlir::Value gradient = channelsFirst(cx, cx.convert(args.tensor("grad_output"), compute));
  mlir::Value ofInput;
  if (args.isWanted(0))
    ofInput = cx.convert(inputGradient(cx, samples, gradient), dtype);
  return Values{ofInput, cx.convert(gridGradient(cx, samples, gradient), dtype)};
}

} // namespace

void addGridSample(OpTable &table) {
  table.add("aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
            "bool align_corners) -> Tensor",
            gridSampler<2>);
  table.add("aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
            "bool align_corners) -> Tensor",
            gridSampler<3>);
  table.add("aten::grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, "
            "int interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> "
            "(Tensor, Tensor)",
            gridSamplerBackward<2>);
  table.add("aten::grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, "
            "int interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> "
            "(Tensor, Tensor)",
            gridSamplerBackward<3>);
}

} // namespace torchere::lowering
