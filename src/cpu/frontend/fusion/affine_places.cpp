// Implements affinePlacesOf: a walk over what computes the integers.
#include "cpu/frontend/fusion/affine_places.h"

#include "cpu/frontend/fusion/pattern.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/TypeUtilities.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace torchere::cpu {

namespace {

using Places = std::optional<AffinePlaces>;

/// So long are the chains of ops that indices are made of.
constexpr int mostDepth = 32;
/// Beyond it nothing is an index, and no sum of a few is out of range.
constexpr int64_t mostPlaces = int64_t(1) << 40;

Places placesOf(Value value, int depth);

AffinePlaces constantPlaces(int64_t number, size_t rank) {
  return {number, SmallVector<int64_t>(rank, 0)};
}

bool isConstant(const AffinePlaces &places) {
  return llvm::all_of(places.steps, [](int64_t step) { return step == 0; });
}

bool isInRange(const AffinePlaces &places, ArrayRef<int64_t> shape, int64_t least, int64_t greatest) {
  return places.least(shape) >= least && places.greatest(shape) <= greatest;
}

/// Whether the places are numbers of the tensor's type.
bool fits(const AffinePlaces &places, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  int64_t limit = bits > 40 ? mostPlaces : (int64_t(1) << (isUnsigned ? bits : bits - 1)) - 1;
  return isInRange(places, type.getShape(), isUnsigned ? 0 : -limit, limit);
}

/// Element by element.
Places readConstant(stablehlo::ConstantOp op) {
  auto values = dyn_cast<DenseIntElementsAttr>(op.getValue());
  ArrayRef<int64_t> shape = dimensionsOf(op.getResult());
  if (!values || values.empty())
    return std::nullopt;
  bool isUnsigned = cast<RankedTensorType>(op.getResult().getType()).getElementType().isUnsignedInteger();
  auto number = [&](const APInt &bits) {
    return isUnsigned ? static_cast<int64_t>(bits.getLimitedValue(mostPlaces + 1)) : bits.getSExtValue();
  };
  if (values.isSplat())
    return constantPlaces(number(values.getSplatValue<APInt>()), shape.size());
  auto elements = values.value_begin<APInt>();
  AffinePlaces places = constantPlaces(number(*elements), shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    if (shape[d] > 1)
      places.steps[d] = number(*(elements + stride)) - places.start;
  if (!fits(places, op.getResult()))
    return std::nullopt;
  SmallVector<int64_t> at(shape.size(), 0);
  int64_t expected = places.start;
  for (const APInt &element : values.getValues<APInt>()) {
    if (number(element) != expected)
      return std::nullopt;
    for (size_t d = shape.size(); d-- > 0;) {
      expected += places.steps[d];
      if (++at[d] < shape[d])
        break;
      expected -= places.steps[d] * shape[d];
      at[d] = 0;
    }
  }
  return places;
}

Places readIota(stablehlo::IotaOp op) {
  ArrayRef<int64_t> shape = dimensionsOf(op.getResult());
  AffinePlaces places = constantPlaces(0, shape.size());
  uint64_t dimension = op.getIotaDimension();
  places.steps[dimension] = shape[dimension] > 1 ? 1 : 0;
  return places;
}

Places readBroadcast(stablehlo::BroadcastInDimOp op, int depth) {
  Places from = placesOf(op.getOperand(), depth);
  if (!from)
    return std::nullopt;
  AffinePlaces places = constantPlaces(from->start, dimensionsOf(op.getResult()).size());
  for (auto [d, target] : llvm::enumerate(op.getBroadcastDimensions()))
    places.steps[static_cast<size_t>(target)] = from->steps[d]; // 0 where one element is repeated
  return places;
}

/// Dimensions of one element come and go, and others are split.
Places readReshape(stablehlo::ReshapeOp op, int depth) {
  Places from = placesOf(op.getOperand(), depth);
  ArrayRef<int64_t> before = dimensionsOf(op.getOperand()), after = dimensionsOf(op.getResult());
  if (!from)
    return std::nullopt;
  AffinePlaces places = constantPlaces(from->start, after.size());
  size_t d = 0;
  int64_t left = 1; // of the dimension that is split
  for (size_t target = 0; target < after.size(); ++target) {
    if (after[target] == 1)
      continue;
    for (; left == 1 && d < before.size(); ++d)
      left = before[d];
    if (left % after[target] != 0)
      return std::nullopt;
    left /= after[target];
    places.steps[target] = from->steps[d - 1] * left;
  }
  return left == 1 ? Places(places) : std::nullopt;
}

Places readTranspose(stablehlo::TransposeOp op, int depth) {
  Places from = placesOf(op.getOperand(), depth);
  if (!from)
    return std::nullopt;
  AffinePlaces places = constantPlaces(from->start, from->steps.size());
  for (auto [d, source] : llvm::enumerate(op.getPermutation()))
    places.steps[d] = from->steps[static_cast<size_t>(source)];
  return places;
}

Places sum(const Places &left, const Places &right, int64_t factor) {
  if (!left || !right)
    return std::nullopt;
  AffinePlaces places = *left;
  places.start += factor * right->start;
  for (auto [step, other] : llvm::zip_equal(places.steps, right->steps))
    step += factor * other;
  return places;
}

Places multiple(const Places &left, const Places &right) {
  if (!left || !right || (!isConstant(*left) && !isConstant(*right)))
    return std::nullopt;
  const AffinePlaces &factor = isConstant(*right) ? *right : *left;
  AffinePlaces places = isConstant(*right) ? *left : *right;
  bool hasFailed = __builtin_mul_overflow(places.start, factor.start, &places.start);
  for (int64_t &step : places.steps)
    hasFailed |= __builtin_mul_overflow(step, factor.start, &step);
  return hasFailed ? std::nullopt : Places(places);
}

/// What the comparison is everywhere, if that is one thing.
std::optional<bool> decided(Value predicate, int depth) {
  auto compare = predicate.getDefiningOp<stablehlo::CompareOp>();
  if (!compare || !isa<IntegerType>(getElementTypeOrSelf(compare.getLhs().getType())))
    return std::nullopt;
  Places difference = sum(placesOf(compare.getLhs(), depth), placesOf(compare.getRhs(), depth), -1);
  if (!difference)
    return std::nullopt;
  ArrayRef<int64_t> shape = dimensionsOf(compare.getLhs());
  int64_t least = difference->least(shape), greatest = difference->greatest(shape);
  switch (compare.getComparisonDirection()) {
  case stablehlo::ComparisonDirection::LT:
    return greatest < 0 ? std::optional(true) : least >= 0 ? std::optional(false) : std::nullopt;
  case stablehlo::ComparisonDirection::GE:
    return least >= 0 ? std::optional(true) : greatest < 0 ? std::optional(false) : std::nullopt;
  default:
    return std::nullopt;
  }
}

Places readSelect(stablehlo::SelectOp op, int depth) {
  std::optional<bool> choice = decided(op.getPred(), depth);
  return choice ? placesOf(*choice ? op.getOnTrue() : op.getOnFalse(), depth) : std::nullopt;
}

Places readOp(Operation *op, int depth) {
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    return readConstant(constant);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return readIota(iota);
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return readBroadcast(broadcast, depth);
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return readReshape(reshape, depth);
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return readTranspose(transpose, depth);
  if (auto select = dyn_cast<stablehlo::SelectOp>(op))
    return readSelect(select, depth);
  if (isa<stablehlo::ConvertOp>(op))
    return placesOf(op->getOperand(0), depth);
  if (isa<stablehlo::AddOp>(op))
    return sum(placesOf(op->getOperand(0), depth), placesOf(op->getOperand(1), depth), 1);
  if (isa<stablehlo::SubtractOp>(op))
    return sum(placesOf(op->getOperand(0), depth), placesOf(op->getOperand(1), depth), -1);
  if (isa<stablehlo::MulOp>(op))
    return multiple(placesOf(op->getOperand(0), depth), placesOf(op->getOperand(1), depth));
  return std::nullopt;
}

Places placesOf(Value value, int depth) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !type || !type.hasStaticShape() || type.getNumElements() == 0 ||
      !isa<IntegerType>(type.getElementType()) || type.getElementType().isInteger(1))
    return std::nullopt;
  Places places = readOp(op, depth - 1);
  return places && fits(*places, value) ? places : std::nullopt;
}

/// The sum of what the steps reach on one side.
int64_t reach(const AffinePlaces &places, ArrayRef<int64_t> shape, bool isUp) {
  __int128 total = places.start;
  for (auto [step, size] : llvm::zip_equal(places.steps, shape))
    total += (step > 0) == isUp ? static_cast<__int128>(step) * (size - 1) : 0;
  const __int128 limit = std::numeric_limits<int64_t>::max() / 4;
  return static_cast<int64_t>(std::clamp(total, -limit, limit));
}

} // namespace

int64_t AffinePlaces::least(ArrayRef<int64_t> shape) const {
  return reach(*this, shape, /*isUp=*/false);
}
int64_t AffinePlaces::greatest(ArrayRef<int64_t> shape) const {
  return reach(*this, shape, /*isUp=*/true);
}

std::optional<AffinePlaces> affinePlacesOf(Value value) {
  return placesOf(value, mostDepth);
}

} // namespace torchere::cpu
