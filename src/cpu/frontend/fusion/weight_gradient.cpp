// Finds gradients of convolutions' weights.
#include "cpu/frontend/fusion/weight_gradient.h"

#include "cpu/frontend/fusion/convolution_call.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isOfFloats(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32() && type.getNumElements() > 0;
}

bool hasPlainWindow(stablehlo::ConvolutionOp op) {
  auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
  size_t rank = op.getDimensionNumbers().getInputSpatialDimensions().size();
  SmallVector<int64_t> padding = paddingOf(op);
  bool startsInside = true;
  for (size_t axis = 0; axis < rank; ++axis)
    startsInside &= padding[2 * axis] >= 0;
  return isOfFloats(op.getLhs()) && isOfFloats(op.getRhs()) && isOfFloats(op->getResult(0)) &&
         (rank == 1 || rank == 2) && startsInside && op.getFeatureGroupCount() == 1 &&
         isAll(op.getLhsDilation(), 1) && (!reversal || !llvm::is_contained(reversal.asArrayRef(), true));
}

/// Whether images come first, as in a gradient, where they are summed over, and not what is convolved.
bool sumsOverImages(stablehlo::ConvolutionOp op) {
  return op.getBatchGroupCount() > 1 || op.getDimensionNumbers().getInputFeatureDimension() == 0;
}

/// Whether the kernel takes less time than that of a convolution: rows of pixels are long, and many meet few
/// taps, or there are groups; and the input is not mostly padding.
bool isWorthwhile(const WeightGradientArgs &args) {
  constexpr int64_t kLeastColumns = 8, kMostTaps = 128, kPixelsOfTap = 4, kMostPadded = 4;
  int64_t taps = args.kernel[0] * args.kernel[1], pixels = args.pixels.height * args.pixels.width;
  BlockedTensor padded = args.input;
  padded.halo = args.inputHalo();
  bool isMuchPadding =
      padded.paddedHeight() * padded.paddedWidth() > kMostPadded * (padded.height + 8) * (padded.width + 8);
  return !isMuchPadding && (args.groups > 1 || (args.pixels.width >= kLeastColumns && taps <= kMostTaps &&
                                                pixels >= kPixelsOfTap * taps));
}

} // namespace

std::optional<WeightGradient> weightGradientOf(Operation *op) {
  auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
  if (!convolution || !hasPlainWindow(convolution) || !sumsOverImages(convolution))
    return std::nullopt;
  stablehlo::ConvDimensionNumbersAttr numbers = convolution.getDimensionNumbers();
  size_t rank = numbers.getInputSpatialDimensions().size();
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
  WeightGradientArgs &args = gradient.args;
  args.groups = static_cast<int64_t>(convolution.getBatchGroupCount());
  args.input.channels = input[1];
  args.input.height = input[2];
  args.input.width = input[3];
  args.pixels.channels = pixels[1];
  args.pixels.height = pixels[2];
  args.pixels.width = pixels[3];
  SmallVector<int64_t> padding = paddingOf(convolution);
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t axis) { return list ? (*list)[axis] : 1; };
  for (size_t axis = rank > 1 ? 0 : 1; axis < 2; ++axis) {
    size_t own = rank - 2 + axis;
    args.kernel[axis] = taps[2 + axis];
    args.stride[axis] = at(convolution.getRhsDilation(), own);
    args.dilation[axis] = at(convolution.getWindowStrides(), own);
    args.padding[axis] = padding[2 * own];
  }
  if (std::max(taps[2], taps[3]) > mostWindow || !isWorthwhile(args))
    return std::nullopt;
  return gradient;
}

} // namespace torchere::cpu
