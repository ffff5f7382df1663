// Finds elements that are gathered at several places, each times its weight, and added: along an axis, as
// linear and cubic resampling have one of these for each axis of an image, and at places of their own, as a
// grid has them.
#include "cpu/kernels/interpolation.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/gathered_slices.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A gather of slices along one axis, or of columns, times a weight for each.
struct Tap {
  stablehlo::GatherOp gather;
  mlir::Value weights;
  int64_t axis = -1; ///< -1: of columns
};

/// Weights along some dimensions that are repeated over the others, if there are any.
mlir::Value weightsOf(mlir::Value value, ArrayRef<int64_t> along) {
  if (along.size() == dimensionsOf(value).size())
    return value;
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast || broadcast.getBroadcastDimensions() != along)
    return {};
  for (auto [size, dimension] : llvm::zip_equal(dimensionsOf(broadcast.getOperand()), along))
    if (size != dimensionsOf(value)[static_cast<size_t>(dimension)])
      return {};
  return broadcast.getOperand();
}

/// The result's dimensions that number slices, behind those within a slice; none if a slice has more than one
/// element along a dimension that indices move, or less than all along another.
SmallVector<int64_t> slicesOfColumns(stablehlo::GatherOp gather) {
  stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  ArrayRef<int64_t> input = dimensionsOf(gather.getOperand()), within = numbers.getOffsetDims();
  for (auto [d, size] : llvm::enumerate(gather.getSliceSizes())) {
    auto dimension = static_cast<int64_t>(d);
    bool isMoved = llvm::is_contained(numbers.getStartIndexMap(), dimension) ||
                   llvm::is_contained(numbers.getOperandBatchingDims(), dimension);
    if (size != (isMoved ? 1 : input[d]))
      return {};
  }
  for (auto [i, dimension] : llvm::enumerate(within))
    if (dimension != static_cast<int64_t>(i))
      return {};
  auto all = llvm::seq<int64_t>(static_cast<int64_t>(within.size()),
                                static_cast<int64_t>(dimensionsOf(gather->getResult(0)).size()));
  return SmallVector<int64_t>(all.begin(), all.end());
}

std::optional<Tap> tapOf(stablehlo::MulOp product) {
  for (unsigned i = 0; i < 2; ++i) {
    auto gather = product->getOperand(i).getDefiningOp<stablehlo::GatherOp>();
    if (!gather || !gather->hasOneUse())
      continue;
    int64_t axis = sliceAxis(gather);
    SmallVector<int64_t> along;
    if (axis >= 0)
      along.push_back(axis);
    else if (hasWidePlaces(gather))
      along = slicesOfColumns(gather);
    if (!along.empty())
      if (mlir::Value weights = weightsOf(product->getOperand(1 - i), along))
        return Tap{gather, weights, axis};
  }
  return std::nullopt;
}

/// The taps that are added; none if something else is, too, or if there are too many.
SmallVector<Tap> tapsOf(stablehlo::AddOp sum) {
  SmallVector<Tap> taps;
  SmallVector<mlir::Value> open{sum->getOperand(1), sum->getOperand(0)};
  while (!open.empty() && taps.size() + open.size() <= kMaxInterpolationTaps) {
    mlir::Value value = open.pop_back_val();
    if (auto inner = value.getDefiningOp<stablehlo::AddOp>(); inner && value.hasOneUse()) {
      open.append({inner->getOperand(1), inner->getOperand(0)});
      continue;
    }
    auto product = value.hasOneUse() ? value.getDefiningOp<stablehlo::MulOp>() : nullptr;
    std::optional<Tap> tap = product ? tapOf(product) : std::nullopt;
    if (!tap)
      return {};
    taps.push_back(*tap);
  }
  bool isOne = open.empty() && llvm::all_of(taps, [&](const Tap &tap) {
                 stablehlo::GatherOp one = tap.gather, first = taps[0].gather;
                 return one.getOperand() == first.getOperand() && tap.axis == taps[0].axis &&
                        one.getDimensionNumbers() == first.getDimensionNumbers() &&
                        one.getStartIndices().getType() == first.getStartIndices().getType();
               });
  return isOne ? taps : SmallVector<Tap>();
}

/// Columns at one place each, as sampling at the nearest one has them: no sum, but the same walk.
SmallVector<Tap> onlyTapOf(stablehlo::MulOp product) {
  std::optional<Tap> tap = tapOf(product);
  return tap && tap->axis < 0 ? SmallVector<Tap>{*tap} : SmallVector<Tap>();
}

/// `sum` is that of the taps.
bool fuseTaps(Operation *sum, SmallVector<Tap> taps) {
  if (taps.empty())
    return false;
  auto type = cast<RankedTensorType>(sum->getResult(0).getType());
  stablehlo::GatherOp first = taps[0].gather;
  SmallVector<mlir::Value> operands{first.getOperand()};
  for (Tap &tap : taps)
    operands.append({tap.gather.getStartIndices(), tap.weights});
  OpBuilder builder(sum);
  bool isAlongAxis = taps[0].axis >= 0;
  NamedAttribute places = isAlongAxis
                              ? builder.getNamedAttr("axis", builder.getI64IntegerAttr(taps[0].axis))
                              : builder.getNamedAttr("dimension_numbers", first.getDimensionNumbersAttr());
  Operation *call = createKernelCall(builder, sum->getLoc(), isAlongAxis ? "interpolation" : "gathered_sum",
                                     type, operands, {places});
  sum->getResult(0).replaceAllUsesWith(call->getResult(0));
  sum->erase(); // so that nothing uses its parts
  return true;
}

} // namespace

int64_t fuseInterpolations(func::FuncOp function) {
  // The whole sum before its parts.
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (!isa<stablehlo::AddOp, stablehlo::MulOp>(op))
      return;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (type && type.hasStaticShape() && type.getElementType().isF32() && type.getNumElements() > 0)
      found.push_back(op);
  });
  return llvm::count_if(llvm::reverse(found), [](Operation *op) {
    auto sum = dyn_cast<stablehlo::AddOp>(op);
    if (!op->getResult(0).use_empty())
      return fuseTaps(op, sum ? tapsOf(sum) : onlyTapOf(cast<stablehlo::MulOp>(op)));
    op->erase(); // a part of one that was fused
    return false;
  });
}

} // namespace torchere::cpu
