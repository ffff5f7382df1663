// Finds interpolation along an axis: elements that are gathered at several places, each times its weight, and
// added. Linear and cubic resampling are one of these for each axis of an image.
#include "cpu/kernels/interpolation.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/gathered_slices.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A gather of slices along one axis, times a weight for each.
struct Tap {
  mlir::Value input, places, weights;
  int64_t axis = 0;
};

/// Weights of the axis that are repeated over the others.
mlir::Value weightsOf(mlir::Value value, int64_t axis) {
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  bool fits = broadcast && broadcast.getBroadcastDimensions() == ArrayRef<int64_t>{axis} &&
              dimensionsOf(broadcast.getOperand())[0] == dimensionsOf(value)[static_cast<size_t>(axis)];
  return fits ? broadcast.getOperand() : mlir::Value();
}

std::optional<Tap> tapOf(mlir::Value term) {
  auto product = term.hasOneUse() ? term.getDefiningOp<stablehlo::MulOp>() : nullptr;
  if (!product)
    return std::nullopt;
  for (unsigned i = 0; i < 2; ++i) {
    auto gather = product->getOperand(i).getDefiningOp<stablehlo::GatherOp>();
    if (!gather || !gather->hasOneUse())
      continue;
    if (int64_t axis = sliceAxis(gather); axis >= 0)
      if (mlir::Value weights = weightsOf(product->getOperand(1 - i), axis))
        return Tap{gather.getOperand(), gather.getStartIndices(), weights, axis};
  }
  return std::nullopt;
}

/// The taps that are added; none if something else is, too.
SmallVector<Tap> tapsOf(stablehlo::AddOp sum) {
  SmallVector<Tap> taps;
  SmallVector<mlir::Value> open{sum->getOperand(1), sum->getOperand(0)};
  while (!open.empty() && taps.size() <= kMaxInterpolationTaps) {
    mlir::Value value = open.pop_back_val();
    if (auto inner = value.getDefiningOp<stablehlo::AddOp>(); inner && value.hasOneUse()) {
      open.append({inner->getOperand(1), inner->getOperand(0)});
      continue;
    }
    std::optional<Tap> tap = tapOf(value);
    if (!tap)
      return {};
    taps.push_back(*tap);
  }
  bool isOne = taps.size() <= kMaxInterpolationTaps && llvm::all_of(taps, [&](const Tap &tap) {
                 return tap.input == taps[0].input && tap.axis == taps[0].axis &&
                        tap.places.getType() == taps[0].places.getType();
               });
  return isOne ? taps : SmallVector<Tap>();
}

bool fuseInterpolation(stablehlo::AddOp sum) {
  auto type = dyn_cast<RankedTensorType>(sum->getResult(0).getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isF32() || type.getNumElements() == 0)
    return false;
  SmallVector<Tap> taps = tapsOf(sum);
  if (taps.empty())
    return false;
  SmallVector<mlir::Value> operands{taps[0].input};
  for (const Tap &tap : taps)
    operands.append({tap.places, tap.weights});
  OpBuilder builder(sum);
  Operation *call = createKernelCall(builder, sum.getLoc(), "interpolation", type, operands,
                                     {builder.getNamedAttr("axis", builder.getI64IntegerAttr(taps[0].axis))});
  sum->getResult(0).replaceAllUsesWith(call->getResult(0));
  sum->erase(); // so that nothing uses its parts
  return true;
}

} // namespace

int64_t fuseInterpolations(func::FuncOp function) {
  // The whole sum before its parts.
  SmallVector<stablehlo::AddOp> sums;
  function.walk([&](stablehlo::AddOp op) { sums.push_back(op); });
  return llvm::count_if(llvm::reverse(sums), [](stablehlo::AddOp sum) {
    if (!sum->getResult(0).use_empty())
      return fuseInterpolation(sum);
    sum->erase(); // a part of one that was fused
    return false;
  });
}

} // namespace torchere::cpu
