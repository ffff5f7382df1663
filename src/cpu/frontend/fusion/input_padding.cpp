// Joins zeros that are padded around a convolution's input, as causal convolutions and those with more on one
// side have them, with its own padding, which kernels leave out or find in the halo.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/splats.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool joinPadding(stablehlo::ConvolutionOp op) {
  auto pad = op.getLhs().getDefiningOp<stablehlo::PadOp>();
  if (!pad || !pad->hasOneUse() || splatNumber(pad.getPaddingValue()) != 0.0 ||
      !isAll(op.getLhsDilation(), 1) || !isAll(pad.getInteriorPadding(), 0))
    return false;
  SmallVector<int64_t> padding = paddingOf(op);
  SmallVector<int64_t> low(pad.getEdgePaddingLow()), high(pad.getEdgePaddingHigh());
  auto isNegative = [](int64_t side) { return side < 0; };
  if (llvm::any_of(padding, isNegative) || llvm::any_of(low, isNegative) || llvm::any_of(high, isNegative))
    return false;
  for (auto [axis, space] : llvm::enumerate(op.getDimensionNumbers().getInputSpatialDimensions())) {
    auto dimension = static_cast<size_t>(space);
    padding[2 * axis] += std::exchange(low[dimension], 0);
    padding[2 * axis + 1] += std::exchange(high[dimension], 0);
  }
  auto isZero = [](int64_t side) { return side == 0; };
  if (!llvm::all_of(low, isZero) || !llvm::all_of(high, isZero)) // items or channels
    return false;
  OpBuilder builder(op);
  op->setOperand(0, pad.getOperand());
  op->setAttr("padding", paddingAttribute(builder, padding));
  return true;
}

} // namespace

int64_t fuseInputPadding(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](stablehlo::ConvolutionOp op) { count += joinPadding(op); });
  return count;
}

} // namespace torchere::cpu
