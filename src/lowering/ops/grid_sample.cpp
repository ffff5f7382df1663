// Sampling of images at the places that a grid names: grid_sampler in two and three dimensions.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

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
};

/// From -1..1 to the places of elements: the middles of the first and last one with align_corners, else
/// their outer edges.
Elements elementPlace(const Elements &coordinate, const Elements &size, bool alignCorners) {
  if (alignCorners)
    return (coordinate + 1.0) / 2.0 * (size - 1.0);
  return ((coordinate + 1.0) * size - 1.0) / 2.0;
}

/// Thrown back and forth between the two ends, which are `low` and `low + span`.
Elements reflected(const Elements &place, double low, const Elements &span) {
  Elements distance = abs(place - low);
  Elements rest = distance.apply<stablehlo::RemOp>(span);
  Elements flips = floor(distance / span);
  Elements isEven = equal(flips.apply<stablehlo::RemOp>(flips.constant(2.0)), 0.0);
  Elements result = isEven.select(rest + low, span - rest + low);
  return equal(span, 0.0).select(0.0, result);
}

/// A place as the padding mode takes those outside of the input.
Elements padded(const Elements &place, const Elements &size, Padding padding, bool alignCorners) {
  if (padding == Zeros)
    return place;
  Elements inside = place;
  if (padding == Reflection)
    inside = alignCorners ? reflected(place, 0.0, size - 1.0) : reflected(place, -0.5, size);
  return minimum(maximum(inside, 0.0), size - 1.0);
}

/// The element at a whole place, which counts only if it is inside.
Neighbour neighbourAt(Context &cx, const Elements &place, const Elements &size, const Elements &weight) {
  Elements isInside = both(place >= 0.0, place <= size - 1.0);
  return {cx.convert(isInside.select(place, 0.0), DType::I64), isInside.select(weight, 0.0)};
}

std::vector<Neighbour> linearNeighbours(Context &cx, const SampledAxis &axis) {
  Elements before = floor(axis.place);
  Elements share = axis.place - before;
  return {neighbourAt(cx, before, axis.size, 1.0 - share), neighbourAt(cx, before + 1.0, axis.size, share)};
}

std::vector<Neighbour> nearestNeighbour(Context &cx, const SampledAxis &axis) {
  Elements place = axis.place.apply<stablehlo::RoundNearestEvenOp>();
  return {neighbourAt(cx, place, axis.size, place.constant(1.0))};
}

/// Keys' cubic kernel with a = -0.75, over the four elements around; each is padded on its own.
std::vector<Neighbour> cubicNeighbours(Context &cx, const SampledAxis &axis, Padding padding,
                                       bool alignCorners) {
  constexpr double keys = -0.75;
  Elements start = floor(axis.place);
  Elements share = axis.place - start;
  auto near = [](const Elements &x) { return ((keys + 2.0) * x - (keys + 3.0)) * x * x + 1.0; };
  auto far = [](const Elements &x) { return ((keys * x - 5.0 * keys) * x + 8.0 * keys) * x - 4.0 * keys; };
  auto at = [&](double offset, const Elements &weight) {
    return neighbourAt(cx, padded(start + offset, axis.size, padding, alignCorners), axis.size, weight);
  };
  return {at(-1.0, far(share + 1.0)), at(0.0, near(share)), at(1.0, near(1.0 - share)),
          at(2.0, far(2.0 - share))};
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

/// The input's elements [channels, samples...] at one neighbour of each axis.
mlir::Value gatherNeighbours(Context &cx, mlir::Value input, llvm::ArrayRef<Neighbour> neighbours) {
  Dims places = cx.shape(neighbours[0].index);
  Dims column = places;
  column.push_back(Dim(1));
  Values columns = {cx.reshape(cx.iota(places, DType::I64, 0), column)};
  Placement placement;
  placement.axes = {0};
  for (size_t i = 0; i < neighbours.size(); ++i) {
    columns.push_back(cx.reshape(neighbours[i].index, column));
    placement.axes.push_back(static_cast<int64_t>(i) + 2);
  }
  placement.coordinates = cx.concatenate(columns, static_cast<int64_t>(places.size()));
  placement.position = 1;
  return gatherSlices(cx, input, placement);
}

/// The weighted sum over every choice of a neighbour on each axis.
mlir::Value blend(Context &cx, mlir::Value input, const std::vector<std::vector<Neighbour>> &axes) {
  std::vector<size_t> choice(axes.size(), 0);
  mlir::Value sum;
  while (true) {
    std::vector<Neighbour> chosen;
    for (size_t i = 0; i < axes.size(); ++i)
      chosen.push_back(axes[i][choice[i]]);
    Elements weight = chosen[0].weight;
    for (size_t i = 1; i < chosen.size(); ++i)
      weight = weight * chosen[i].weight;
    mlir::Value elements = gatherNeighbours(cx, input, chosen);
    mlir::Value part =
        cx.elementwise<stablehlo::MulOp>({elements, cx.broadcastTo(weight, cx.shape(elements))});
    sum = sum ? cx.elementwise<stablehlo::AddOp>({sum, part}) : part;
    size_t axis = axes.size();
    while (axis > 0 && ++choice[axis - 1] == axes[axis - 1].size())
      choice[--axis] = 0;
    if (axis == 0)
      return sum;
  }
}

template <int64_t spatialRank> Result<mlir::Value> gridSampler(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  DType compute = computeType(type.dtype);
  Sampling sampling = {static_cast<Interpolation>(args.integer("interpolation_mode")),
                       static_cast<Padding>(args.integer("padding_mode")), args.boolean("align_corners")};
  if (sampling.interpolation < Linear || sampling.interpolation > (spatialRank == 2 ? Cubic : Nearest))
    return cx.invalid("unknown interpolation_mode: got {}, expected 0 to {}",
                      args.integer("interpolation_mode"), spatialRank == 2 ? 2 : 1);
  if (sampling.padding < Zeros || sampling.padding > Reflection)
    return cx.invalid("unknown padding_mode: got {}, expected 0 to 2", args.integer("padding_mode"));
  mlir::Value input = cx.convert(args.tensor("input"), compute);
  mlir::Value grid = cx.convert(args.tensor("grid"), compute);
  std::vector<std::vector<Neighbour>> axes;
  for (int64_t i = 0; i < spatialRank; ++i) {
    Elements coordinate = gridCoordinate(cx, grid, spatialRank - 1 - i);
    mlir::Value size = cx.broadcastTo(cx.sizeTensor(cx.size(input, 2 + i), compute), cx.shape(coordinate));
    Elements place = elementPlace(coordinate, coordinate.with(size), sampling.alignCorners);
    axes.push_back(neighboursAlong(cx, {coordinate.with(size), place}, sampling));
  }
  Integers samplesFirst = {1, 0};
  for (int64_t i = 0; i < spatialRank; ++i)
    samplesFirst.push_back(2 + i);
  return cx.convert(cx.transpose(blend(cx, input, axes), samplesFirst), type.dtype);
}

} // namespace

void addGridSample(OpTable &table) {
  table.add("aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
            "bool align_corners) -> Tensor",
            gridSampler<2>);
  table.add("aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
            "bool align_corners) -> Tensor",
            gridSampler<3>);
}

} // namespace torchere::lowering
