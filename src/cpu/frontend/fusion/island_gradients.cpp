// Gradients of depthwise convolutions' weights, of tensors in blocks of channels.
#include "cpu/frontend/fusion/islands.h"
#include "cpu/frontend/fusion/kernel_call.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace torchere::cpu {

std::optional<WeightGradient> weightGradientOf(Operation *op) {
  auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
  if (!convolution || convolution.getBatchGroupCount() < 2 || convolution.getFeatureGroupCount() != 1)
    return std::nullopt;
  auto isPlain = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getElementType().isF32() && type.getNumElements() > 0;
  };
  auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
  stablehlo::ConvDimensionNumbersAttr numbers = convolution.getDimensionNumbers();
  size_t rank = numbers.getInputSpatialDimensions().size();
  if (!isPlain(convolution.getLhs()) || !isPlain(convolution.getRhs()) || !isPlain(op->getResult(0)) ||
      rank < 1 || rank > 2 || !isAll(convolution.getLhsDilation(), 1) ||
      (reversal && llvm::is_contained(reversal.asArrayRef(), true)))
    return std::nullopt;
  WeightGradient gradient;
  auto order = [&](int64_t image, int64_t channel, ArrayRef<int64_t> space) {
    return PlanarOrder{image, channel, rank > 1 ? space[0] : -1, space[rank - 1], -1};
  };
  gradient.inputOrder = order(numbers.getInputFeatureDimension(), numbers.getInputBatchDimension(),
                              numbers.getInputSpatialDimensions());
  gradient.pixelsOrder =
      order(numbers.getKernelInputFeatureDimension(), numbers.getKernelOutputFeatureDimension(),
            numbers.getKernelSpatialDimensions());
  PlanarOrder result = order(numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                             numbers.getOutputSpatialDimensions());
  auto input = sizesOf(tensorTypeOf(convolution.getLhs()), gradient.inputOrder),
       pixels = sizesOf(tensorTypeOf(convolution.getRhs()), gradient.pixelsOrder),
       taps = sizesOf(tensorTypeOf(op->getResult(0)), result);
  auto channels = static_cast<int64_t>(convolution.getBatchGroupCount());
  if (input[1] != channels || pixels[1] != channels || std::max(taps[2], taps[3]) > mostWindow)
    return std::nullopt;
  SmallVector<int64_t> padding = paddingOf(convolution);
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t axis) { return list ? (*list)[axis] : 1; };
  ConvolutionShape &window = gradient.window;
  for (size_t axis = rank > 1 ? 0 : 1; axis < 2; ++axis) {
    size_t own = rank - 2 + axis;
    window.kernel[axis] = taps[2 + axis];
    window.stride[axis] = at(convolution.getRhsDilation(), own);
    window.dilation[axis] = at(convolution.getWindowStrides(), own);
    window.padding[axis] = padding[2 * own];
  }
  int64_t last = (pixels[3] - 1) * window.stride[1] + (taps[3] - 1) * window.dilation[1] - window.padding[1];
  gradient.halo.columns = std::max({int64_t(0), window.padding[1], last + 1 - input[3]});
  return gradient;
}

void Islands::rewriteWeightGradient(stablehlo::ConvolutionOp op, const WeightGradient &gradient) {
  BlockedValue input = operandFor(op.getLhs(), gradient.inputOrder, op);
  BlockedValue pixels = operandFor(op.getRhs(), gradient.pixelsOrder, op);
  const ConvolutionShape &window = gradient.window;
  RankedTensorType type = tensorTypeOf(op->getResult(0));
  Operation *call = createKernelCall(
      builder, op.getLoc(), "tap_sums", type.clone({input.channels, window.kernel[0], window.kernel[1]}),
      {input.value, pixels.value},
      {builder.getNamedAttr("window", builder.getDenseI64ArrayAttr({window.stride[0], window.stride[1],
                                                                    window.padding[0], window.padding[1],
                                                                    window.dilation[0], window.dilation[1]})),
       haloAttribute(builder, {input.halo, pixels.halo})});
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> shape{input.channels, 1}, order(static_cast<size_t>(type.getRank()));
  order[static_cast<size_t>(numbers.getOutputFeatureDimension())] = 0;
  order[static_cast<size_t>(numbers.getOutputBatchDimension())] = 1;
  for (int64_t dimension : numbers.getOutputSpatialDimensions()) {
    order[static_cast<size_t>(dimension)] = static_cast<int64_t>(shape.size());
    shape.push_back(type.getDimSize(static_cast<unsigned>(dimension)));
  }
  Value taps = blocked.reshaped(call->getResult(0), shape);
  op->getResult(0).replaceAllUsesWith(
      stablehlo::TransposeOp::create(builder, op.getLoc(), type, taps, builder.getDenseI64ArrayAttr(order))
          ->getResult(0));
}

} // namespace torchere::cpu
