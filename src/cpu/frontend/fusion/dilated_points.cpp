// Moves the zeros between the pixels of a convolution's input behind it, where its window is one pixel, as in
// the gradients of inputs of 1x1 convolutions with strides: nothing is multiplied with them.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/splats.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isOfDilatedPoints(stablehlo::ConvolutionOp op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto taps = dyn_cast<RankedTensorType>(op.getRhs().getType());
  return type && taps && type.hasStaticShape() && taps.hasStaticShape() &&
         isa<FloatType>(type.getElementType()) && !isAll(op.getLhsDilation(), 1) &&
         isAll(op.getWindowStrides(), 1) && op.getBatchGroupCount() == 1 &&
         llvm::all_of(op.getDimensionNumbers().getKernelSpatialDimensions(), [&](int64_t dimension) {
           return taps.getDimSize(static_cast<unsigned>(dimension)) == 1;
         });
}

void moveZeros(stablehlo::ConvolutionOp op) {
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto input = cast<RankedTensorType>(op.getLhs().getType());
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> padding = paddingOf(op), shape(type.getShape());
  SmallVector<int64_t> low(shape.size(), 0), high(low), interior(low);
  for (auto [axis, dimension] : llvm::enumerate(numbers.getOutputSpatialDimensions())) {
    auto at = static_cast<size_t>(dimension);
    shape[at] = input.getDimSize(static_cast<unsigned>(numbers.getInputSpatialDimensions()[axis]));
    low[at] = padding[2 * axis];
    high[at] = padding[2 * axis + 1];
    interior[at] = (*op.getLhsDilation())[axis] - 1;
  }
  Operation *points = builder.clone(*op);
  points->removeAttr("lhs_dilation");
  points->removeAttr("padding");
  points->getResult(0).setType(type.clone(shape));
  Value zero = splatOf(builder, op.getLoc(), type.clone(ArrayRef<int64_t>()), 0);
  op->getResult(0).replaceAllUsesWith(
      stablehlo::PadOp::create(builder, op.getLoc(), type, points->getResult(0), zero,
                               builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high),
                               builder.getDenseI64ArrayAttr(interior))
          ->getResult(0));
}

} // namespace

int64_t fuseDilatedPoints(func::FuncOp function) {
  SmallVector<stablehlo::ConvolutionOp> found;
  function.walk([&](stablehlo::ConvolutionOp op) {
    if (isOfDilatedPoints(op))
      found.push_back(op);
  });
  llvm::for_each(found, moveZeros);
  return static_cast<int64_t>(found.size());
}

} // namespace torchere::cpu
