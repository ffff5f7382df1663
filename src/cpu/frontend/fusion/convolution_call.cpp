// Implements ConvolutionCall.
#include "cpu/frontend/fusion/convolution_call.h"

#include "cpu/frontend/fusion/kernel_call.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

PlanarOrder orderOf(int64_t first, int64_t second, ArrayRef<int64_t> spatial) {
  return {first, second, spatial[0], spatial[1]};
}

bool isPlainF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32() && type.getRank() == 4 &&
         type.getNumElements() > 0;
}

bool hasDefaultPrecision(stablehlo::ConvolutionOp op) {
  auto precisions = op->getAttrOfType<ArrayAttr>("precision_config");
  return !precisions || llvm::all_of(precisions, [](Attribute precision) {
    return cast<stablehlo::PrecisionAttr>(precision).getValue() == stablehlo::Precision::DEFAULT;
  });
}

ConvolutionShape windowedShapeOf(stablehlo::ConvolutionOp op, const ConvolutionCall &call) {
  auto sizes = [](Value value, const PlanarOrder &order) {
    return sizesOf(cast<RankedTensorType>(value.getType()), order);
  };
  auto input = sizes(op.getLhs(), call.inputOrder), weights = sizes(op.getRhs(), call.weightsOrder),
       output = sizes(op->getResult(0), call.outputOrder);
  ConvolutionShape shape;
  shape.batch = input[0];
  shape.inputChannels = input[1];
  shape.inputHeight = input[2];
  shape.inputWidth = input[3];
  shape.outputChannels = output[1];
  shape.outputHeight = output[2];
  shape.outputWidth = output[3];
  shape.groups = static_cast<int64_t>(op.getFeatureGroupCount());
  SmallVector<int64_t> padding = paddingOf(op);
  for (size_t axis = 0; axis < 2; ++axis) {
    shape.kernel[axis] = weights[axis + 2];
    shape.padding[axis] = padding[2 * axis];
    if (auto strides = op.getWindowStrides())
      shape.stride[axis] = (*strides)[axis];
    if (auto dilations = op.getRhsDilation())
      shape.dilation[axis] = (*dilations)[axis];
  }
  return shape;
}

/// Makes phases of a dilated input. False if some would have no taps, or not as many outputs as others.
bool takeDilation(stablehlo::ConvolutionOp op, ConvolutionCall &call) {
  ConvolutionShape &s = call.shape;
  ArrayRef<int64_t> dilation = *op.getLhsDilation();
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t &output = axis == 0 ? s.outputHeight : s.outputWidth;
    if (s.kernel[axis] < dilation[axis] || output % dilation[axis] != 0 || s.stride[axis] != 1 ||
        s.dilation[axis] != 1)
      return false;
    output /= dilation[axis];
    s.phases[axis] = dilation[axis];
  }
  return s.groups == 1;
}

} // namespace

bool isAll(std::optional<ArrayRef<int64_t>> list, int64_t value) {
  return !list || llvm::all_of(*list, [&](int64_t element) { return element == value; });
}

DenseIntElementsAttr paddingAttribute(Builder &builder, ArrayRef<int64_t> padding) {
  auto type = RankedTensorType::get({static_cast<int64_t>(padding.size()) / 2, 2}, builder.getI64Type());
  return DenseIntElementsAttr::get(type, padding);
}

SmallVector<int64_t> paddingOf(stablehlo::ConvolutionOp op) {
  SmallVector<int64_t> padding(2 * op.getDimensionNumbers().getInputSpatialDimensions().size());
  if (auto given = op->getAttrOfType<DenseIntElementsAttr>("padding"))
    for (auto [to, from] : llvm::zip_equal(padding, given.getValues<APInt>()))
      to = from.getSExtValue();
  return padding;
}

std::optional<ConvolutionCall> convolutionCallOf(stablehlo::ConvolutionOp op) {
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
  bool isReversed = reversal && llvm::is_contained(reversal.asArrayRef(), true);
  bool isDilated = !isAll(op.getLhsDilation(), 1);
  bool isPlain = isPlainF32(op.getLhs()) && isPlainF32(op.getRhs()) && isPlainF32(op->getResult(0)) &&
                 numbers.getInputSpatialDimensions().size() == 2 && op.getBatchGroupCount() == 1 &&
                 (!isReversed || !llvm::is_contained(reversal.asArrayRef(), false)) &&
                 llvm::all_of(paddingOf(op), [](int64_t padding) { return padding >= 0; });
  if (!isPlain)
    return std::nullopt;
  ConvolutionCall call;
  call.inputOrder = orderOf(numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
                            numbers.getInputSpatialDimensions());
  call.weightsOrder = orderOf(numbers.getKernelOutputFeatureDimension(),
                              numbers.getKernelInputFeatureDimension(), numbers.getKernelSpatialDimensions());
  call.outputOrder = orderOf(numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                             numbers.getOutputSpatialDimensions());
  call.shape = windowedShapeOf(op, call);
  if (isDilated && !takeDilation(op, call))
    return std::nullopt;
  call.isMirrored = isReversed;
  call.mayUseWinograd = hasDefaultPrecision(op);
  call.isPlanar = !isDilated && call.shape.inputChannels <= mostPlanarChannels && call.shape.groups == 1 &&
                  call.inputOrder[3] == 3;
  return call;
}

Value createPointConvolution(OpBuilder &builder, Type type, Value input, Value weights,
                             stablehlo::ConvDimensionNumbersAttr numbers, int64_t groups,
                             Attribute precision) {
  OperationState state(input.getLoc(), stablehlo::ConvolutionOp::getOperationName());
  state.addTypes(type);
  state.addOperands({input, weights});
  state.addAttribute("dimension_numbers", numbers);
  state.addAttribute("feature_group_count", builder.getI64IntegerAttr(groups));
  state.addAttribute("batch_group_count", builder.getI64IntegerAttr(1));
  if (precision)
    state.addAttribute("precision_config", precision);
  return builder.create(state)->getResult(0);
}

ArrayRef<int64_t> integersIn(Operation *op, StringRef name) {
  return cast<DenseI64ArrayAttr>(kernelAttribute(op, name)).asArrayRef();
}

SmallVector<NamedAttribute> attributesOf(OpBuilder &builder, const ConvolutionCall &call) {
  const ConvolutionShape &s = call.shape;
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  };
  auto flag = [&](StringRef name, bool value) {
    return builder.getNamedAttr(name, builder.getBoolAttr(value));
  };
  return {
      list("input", {s.batch, s.inputChannels, s.inputHeight, s.inputWidth}),
      list("output", {s.outputChannels, s.outputHeight, s.outputWidth}),
      list("window", {s.groups, s.kernel[0], s.kernel[1], s.stride[0], s.stride[1], s.padding[0],
                      s.padding[1], s.dilation[0], s.dilation[1]}),
      list("phases", s.phases),
      list("input_order", call.inputOrder),
      list("weights_order", call.weightsOrder),
      list("halos", {call.inputHalo, call.residualHalo, call.outputHalo}),
      builder.getNamedAttr("activation", builder.getI64IntegerAttr(static_cast<int64_t>(call.activation))),
      flag("planar", call.isPlanar),
      flag("winograd", call.mayUseWinograd),
      flag("mirrored", call.isMirrored),
      flag("bias", call.hasBias),
      flag("residual", call.hasResidual)};
}

ConvolutionCall convolutionCallIn(Operation *op) {
  ConvolutionCall call;
  ConvolutionShape &s = call.shape;
  ArrayRef<int64_t> input = integersIn(op, "input"), output = integersIn(op, "output");
  ArrayRef<int64_t> window = integersIn(op, "window"), halos = integersIn(op, "halos");
  s = {input[0], input[1], input[2], input[3], output[0], output[1], output[2], window[0]};
  for (size_t axis = 0; axis < 2; ++axis) {
    s.kernel[axis] = window[1 + axis];
    s.stride[axis] = window[3 + axis];
    s.padding[axis] = window[5 + axis];
    s.dilation[axis] = window[7 + axis];
    s.phases[axis] = integersIn(op, "phases")[axis];
  }
  llvm::copy(integersIn(op, "input_order"), call.inputOrder.begin());
  llvm::copy(integersIn(op, "weights_order"), call.weightsOrder.begin());
  call.inputHalo = halos[0];
  call.residualHalo = halos[1];
  call.outputHalo = halos[2];
  call.activation = static_cast<Activation>(cast<IntegerAttr>(kernelAttribute(op, "activation")).getInt());
  auto flag = [&](StringRef name) { return cast<BoolAttr>(kernelAttribute(op, name)).getValue(); };
  call.isPlanar = flag("planar");
  call.mayUseWinograd = flag("winograd");
  call.isMirrored = flag("mirrored");
  call.hasBias = flag("bias");
  call.hasResidual = flag("residual");
  return call;
}

} // namespace torchere::cpu
