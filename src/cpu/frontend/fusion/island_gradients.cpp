// Gradients of convolutions' weights, of tensors in blocks of channels.
#include "cpu/frontend/fusion/islands.h"
#include "cpu/frontend/fusion/kernel_call.h"

using namespace mlir;

namespace torchere::cpu {

void Islands::rewriteWeightGradient(stablehlo::ConvolutionOp op, const WeightGradient &gradient) {
  const WeightGradientArgs &args = gradient.args;
  BlockedValue input = operandFor(op.getLhs(), gradient.inputOrder, op);
  if (!input.halo.covers(args.inputHalo()))
    input = blocked.toBlocked(op.getLhs(), gradient.inputOrder, args.inputHalo());
  BlockedValue pixels = operandFor(op.getRhs(), gradient.pixelsOrder, op);
  RankedTensorType type = tensorTypeOf(op->getResult(0));
  int64_t inputs = input.channels / args.groups;
  Operation *call = createKernelCall(
      builder, op.getLoc(), "weight_gradient",
      type.clone({pixels.channels, inputs, args.kernel[0], args.kernel[1]}), {input.value, pixels.value},
      {builder.getNamedAttr("groups", builder.getI64IntegerAttr(args.groups)),
       builder.getNamedAttr(
           "window", builder.getDenseI64ArrayAttr({args.stride[0], args.stride[1], args.padding[0],
                                                   args.padding[1], args.dilation[0], args.dilation[1]})),
       haloAttribute(builder, {input.halo, pixels.halo})});
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> shape{pixels.channels, inputs}, order(static_cast<size_t>(type.getRank()));
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
