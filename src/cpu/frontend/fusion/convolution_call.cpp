// Implements ConvolutionCall.
#include "cpu/frontend/fusion/convolution_call.h"

#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/splats.h"
#include "passes/precision/products.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

PlanarOrder orderOf(int64_t first, int64_t second, ArrayRef<int64_t> spatial) {
  size_t rank = spatial.size();
  return {first, second, rank > 1 ? spatial[rank - 2] : -1, spatial[rank - 1], rank > 2 ? spatial[0] : -1};
}

bool isPlainF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32() && type.getNumElements() > 0;
}

ConvolutionShape windowedShapeOf(stablehlo::ConvolutionOp op, const ConvolutionCall &call) {
  auto sizes = [](Value value, const PlanarOrder &order) {
    return sizesOf(cast<RankedTensorType>(value.getType()), order);
  };
  auto input = sizes(op.getLhs(), call.inputOrder), weights = sizes(op.getRhs(), call.weightsOrder),
       output = sizes(op->getResult(0), call.outputOrder);
  ConvolutionShape shape;
  shape.batch = output[0] * output[4];
  shape.inputChannels = input[1];
  shape.inputHeight = input[2];
  shape.inputWidth = input[3];
  shape.outputChannels = output[1];
  shape.outputHeight = output[2];
  shape.outputWidth = output[3];
  shape.groups = static_cast<int64_t>(op.getFeatureGroupCount());
  SmallVector<int64_t> padding = paddingOf(op);
  size_t rank = padding.size() / 2;
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t axis) { return list ? (*list)[axis] : 1; };
  for (size_t axis = rank > 1 ? 0 : 1; axis < 2; ++axis) {
    size_t own = rank - 2 + axis;
    shape.kernel[axis] = weights[axis + 2];
    shape.padding[axis] = padding[2 * own];
    shape.stride[axis] = at(op.getWindowStrides(), own);
    shape.dilation[axis] = at(op.getRhsDilation(), own);
  }
  if (rank == 3)
    shape.depth = {input[4],   output[4],
                   weights[4], at(op.getWindowStrides(), 0),
                   padding[0], at(op.getRhsDilation(), 0)};
  return shape;
}

/// Of groups, which have no phases: zeros that are few are multiplied too. False if they are many.
bool takeZeros(stablehlo::ConvolutionOp op, ConvolutionCall &call) {
  constexpr int64_t kMostPixels = 16; ///< of the kernel's input for one of the convolution's
  ArrayRef<int64_t> dilation = *op.getLhsDilation();
  if (dilation.size() > 2)
    return false;
  for (size_t axis = 2 - dilation.size(); axis < 2; ++axis)
    call.inputDilation[axis] = dilation[axis + dilation.size() - 2];
  call.shape.inputHeight *= call.inputDilation[0];
  call.shape.inputWidth *= call.inputDilation[1];
  return call.inputDilation[0] * call.inputDilation[1] <= kMostPixels;
}

/// Makes phases of a dilated input. False if some would have no taps, or not as many outputs as others.
bool takeDilation(stablehlo::ConvolutionOp op, ConvolutionCall &call) {
  ConvolutionShape &s = call.shape;
  if (s.groups > 1)
    return takeZeros(op, call);
  ArrayRef<int64_t> dilation = *op.getLhsDilation();
  if (dilation.size() > 2 && dilation[0] != 1)
    return false;
  for (size_t axis = dilation.size() > 1 ? 0 : 1; axis < 2; ++axis) {
    int64_t &output = axis == 0 ? s.outputHeight : s.outputWidth;
    int64_t phases = dilation[axis + dilation.size() - 2];
    if (s.kernel[axis] < phases || output % phases != 0 || s.stride[axis] != 1 || s.dilation[axis] != 1)
      return false;
    output /= phases;
    s.phases[axis] = phases;
  }
  return true;
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
  size_t rank = numbers.getInputSpatialDimensions().size();
  bool isPlain = isPlainF32(op.getLhs()) && isPlainF32(op.getRhs()) && isPlainF32(op->getResult(0)) &&
                 rank >= 1 && rank <= 3 && op.getBatchGroupCount() == 1 &&
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
  bool mayHaveDepth = call.shape.groups == 1 || call.shape.isDepthwise();
  if ((isDilated && !takeDilation(op, call)) || (call.shape.depth.kernel > 1 && !mayHaveDepth))
    return std::nullopt;
  call.isMirrored = isReversed;
  call.mayUseWinograd = passes::hasDefaultPrecision(op);
  call.isPlanar = !isDilated && call.shape.inputChannels <= mostPlanarChannels && call.shape.groups == 1 &&
                  call.inputOrder[3] == static_cast<int64_t>(rank) + 1;
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

Value createUnchangedChannels(OpBuilder &builder, RankedTensorType type, Value input,
                              stablehlo::ConvDimensionNumbersAttr numbers) {
  int64_t channels = type.getDimSize(static_cast<unsigned>(numbers.getOutputFeatureDimension()));
  SmallVector<int64_t> kernel(static_cast<size_t>(type.getRank()), 1);
  kernel[static_cast<size_t>(numbers.getKernelOutputFeatureDimension())] = channels;
  Value ones = splatOf(builder, input.getLoc(), type.clone(kernel), 1);
  return createPointConvolution(builder, type, input, ones, numbers, channels);
}

NamedAttribute depthAttribute(Builder &builder, const DepthWindow &d) {
  return builder.getNamedAttr(
      "depth", builder.getDenseI64ArrayAttr({d.input, d.output, d.kernel, d.stride, d.padding, d.dilation}));
}

DepthWindow depthIn(KernelAttributes call) {
  ArrayRef<int64_t> d = kernelIntegers(call, "depth");
  return {d[0], d[1], d[2], d[3], d[4], d[5]};
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
      depthAttribute(builder, s.depth),
      list("input_order", call.inputOrder),
      list("weights_order", call.weightsOrder),
      haloAttribute(builder, {call.inputHalo, call.residualHalo, call.outputHalo}),
      builder.getNamedAttr("activation", builder.getI64IntegerAttr(static_cast<int64_t>(call.activation))),
      flag("planar", call.isPlanar),
      flag("winograd", call.mayUseWinograd),
      flag("mirrored", call.isMirrored),
      flag("bias", call.hasBias),
      flag("residual", call.hasResidual),
      flag("slopes", call.hasSlopes),
      flag("factors", call.hasFactors),
      flag("residual_last", call.addsResidualLast),
      flag("gate", call.hasGate)};
}

ConvolutionCall convolutionCallIn(KernelAttributes attributes) {
  auto integers = [&](StringRef name) { return kernelIntegers(attributes, name); };
  auto flag = [&](StringRef name) { return kernelFlag(attributes, name); };
  ConvolutionCall call;
  ConvolutionShape &s = call.shape;
  ArrayRef<int64_t> input = integers("input"), output = integers("output"), window = integers("window");
  s = {.batch = input[0],
       .inputChannels = input[1],
       .inputHeight = input[2],
       .inputWidth = input[3],
       .outputChannels = output[0],
       .outputHeight = output[1],
       .outputWidth = output[2],
       .groups = window[0],
       .depth = depthIn(attributes)};
  for (size_t axis = 0; axis < 2; ++axis) {
    s.kernel[axis] = window[1 + axis];
    s.stride[axis] = window[3 + axis];
    s.padding[axis] = window[5 + axis];
    s.dilation[axis] = window[7 + axis];
    s.phases[axis] = integers("phases")[axis];
  }
  llvm::copy(integers("input_order"), call.inputOrder.begin());
  llvm::copy(integers("weights_order"), call.weightsOrder.begin());
  call.inputHalo = haloIn(attributes, 0);
  call.residualHalo = haloIn(attributes, 1);
  call.outputHalo = haloIn(attributes, 2);
  call.activation = static_cast<Activation>(kernelInteger(attributes, "activation"));
  call.isPlanar = flag("planar");
  call.mayUseWinograd = flag("winograd");
  call.isMirrored = flag("mirrored");
  call.hasBias = flag("bias");
  call.hasResidual = flag("residual");
  call.hasSlopes = flag("slopes");
  call.hasFactors = flag("factors");
  call.addsResidualLast = flag("residual_last");
  call.hasGate = flag("gate");
  return call;
}

namespace {

StringRef nameOf(ConvolutionKind kind) {
  switch (kind) {
  case ConvolutionKind::Direct:
    return "direct";
  case ConvolutionKind::Planar:
    return "planar";
  case ConvolutionKind::Depthwise:
    return "depthwise";
  case ConvolutionKind::Grouped:
    return "grouped";
  case ConvolutionKind::Winograd2:
  case ConvolutionKind::Winograd4:
    return "winograd";
  }
  return "";
}

StringRef nameOf(Activation activation) {
  constexpr StringLiteral names[] = {"",      "+relu",    "+relu6", "+gelu",       "+gelu_tanh",
                                     "+silu", "+sigmoid", "+tanh",  "+hard_swish", "+hard_sigmoid"};
  static_assert(std::size(names) == kActivations);
  return names[static_cast<size_t>(activation)];
}

} // namespace

std::string describeConvolution(Operation *op, Isa isa) {
  ConvolutionCall call = convolutionCallIn(op);
  bool isScaled = op->getOperand(1).getDefiningOp<stablehlo::MulOp>() != nullptr;
  StringRef kind = call.shape.phaseCount() > 1 ? "transposed" : nameOf(call.plan(isa).kind);
  bool addsFirst = call.hasResidual && !call.addsResidualLast;
  return (kind + (isScaled ? "+scale" : "") + (call.hasBias ? "+bias" : "") + (addsFirst ? "+residual" : "") +
          nameOf(call.activation) + (call.hasSlopes ? "+slopes" : "") + (call.hasFactors ? "+factors" : "") +
          (call.addsResidualLast ? "+residual" : ""))
      .str();
}

} // namespace torchere::cpu
