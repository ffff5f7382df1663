// Masks that follow from places alone, as those of triangles and diagonals of small matrices: they become
// constants of the dimensions that they depend on, repeated along the others, so that a vector program has
// no short rows to count in.
#include "cpu/frontend/fusion/affine_places.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/pattern.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Larger masks are computed.
constexpr int64_t mostElements = 4096;

bool holds(stablehlo::ComparisonDirection direction, int64_t difference) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return difference == 0;
  case stablehlo::ComparisonDirection::NE:
    return difference != 0;
  case stablehlo::ComparisonDirection::GE:
    return difference >= 0;
  case stablehlo::ComparisonDirection::GT:
    return difference > 0;
  case stablehlo::ComparisonDirection::LE:
    return difference <= 0;
  case stablehlo::ComparisonDirection::LT:
    break;
  }
  return difference < 0;
}

/// For all places in the dimensions, in order.
SmallVector<bool> maskOf(stablehlo::ComparisonDirection direction, const AffinePlaces &difference,
                         ArrayRef<int64_t> dimensions, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> values{difference.start};
  for (int64_t d : dimensions) {
    SmallVector<int64_t> next;
    for (int64_t value : values)
      for (int64_t i = 0; i < shape[static_cast<size_t>(d)]; ++i)
        next.push_back(value + i * difference.steps[static_cast<size_t>(d)]);
    values = std::move(next);
  }
  return SmallVector<bool>(llvm::map_range(values, [&](int64_t value) { return holds(direction, value); }));
}

bool fuseMask(stablehlo::CompareOp compare) {
  auto type = cast<RankedTensorType>(compare.getResult().getType());
  if (!type.hasStaticShape() || !isa<IntegerType>(getElementTypeOrSelf(compare.getLhs().getType())))
    return false;
  std::optional<AffinePlaces> difference = affinePlacesOf(compare.getLhs());
  std::optional<AffinePlaces> other = difference ? affinePlacesOf(compare.getRhs()) : std::nullopt;
  if (!other)
    return false;
  difference->start -= other->start;
  SmallVector<int64_t> dimensions, sizes;
  int64_t count = 1;
  for (auto [d, step] : llvm::enumerate(difference->steps)) {
    step -= other->steps[d];
    if (step == 0)
      continue;
    dimensions.push_back(static_cast<int64_t>(d));
    sizes.push_back(type.getShape()[d]);
    count *= sizes.back();
    if (count > mostElements)
      return false;
  }
  if (dimensions.size() < 2) // one that counts along a row is as good
    return false;
  OpBuilder builder(compare);
  SmallVector<bool> mask = maskOf(compare.getComparisonDirection(), *difference, dimensions, type.getShape());
  auto values = DenseElementsAttr::get(RankedTensorType::get(sizes, builder.getI1Type()), ArrayRef(mask));
  mlir::Value constant = stablehlo::ConstantOp::create(builder, compare.getLoc(), values);
  OperationState state(compare.getLoc(), stablehlo::BroadcastInDimOp::getOperationName(), constant, type);
  state.addAttribute("broadcast_dimensions", builder.getDenseI64ArrayAttr(dimensions));
  compare.getResult().replaceAllUsesWith(builder.create(state)->getResult(0));
  compare->erase();
  return true;
}

} // namespace

int64_t fusePlaceMasks(func::FuncOp function) {
  SmallVector<stablehlo::CompareOp> compares;
  function.walk([&](stablehlo::CompareOp op) { compares.push_back(op); });
  return llvm::count_if(compares, fuseMask);
}

} // namespace torchere::cpu
