// Plans kernel calls on tensors in blocks of channels.
#include "cpu/execute/blocked_steps.h"
#include "cpu/execute/convolution_step.h"
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/frontend/planner.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The dimensions in this order; one that there is not has the size 1.
View dimensionsInOrder(const View &view, ArrayRef<int64_t> order) {
  View ordered = view;
  ordered.shape.assign(order.size(), 1);
  ordered.strides.assign(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] >= 0) {
      ordered.shape[i] = view.shape[static_cast<size_t>(order[i])];
      ordered.strides[i] = view.strides[static_cast<size_t>(order[i])];
    }
  return ordered;
}

/// Of the shape N x blocks x H + 2 halo.rows x W + 2 halo.columns x lanes.
BlockedTensor tensorOf(const Sizes &shape, int64_t channels, const Halo &halo) {
  return {nullptr,
          shape[0],
          channels,
          shape[2] - 2 * halo.rows,
          shape[3] - 2 * halo.columns,
          halo,
          static_cast<int>(shape[4])};
}

Result<bool> planToBlocked(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View input, planner.view(op->getOperand(0)));
  View planar = dimensionsInOrder(input, kernelIntegers(op, "order"));
  View result = planner.allocate(op->getResult(0));
  Halo halo{(result.shape[2] - planar.shape[2]) / 2, (result.shape[3] - planar.shape[3]) / 2};
  planner.emit(std::make_unique<BlockedLayoutStep>(BlockedLayoutStep::Direction::ToBlocks, planar,
                                                   tensorOf(result.shape, planar.shape[1], halo), result),
               {&planar, 1}, {&result, 1});
  return true;
}

/// The dimension of a reshape's result that the elements of this one follow each other in; -1 for none.
int64_t reshapedDimension(stablehlo::ReshapeOp op, int64_t dimension) {
  ArrayRef<int64_t> from = dimensionsOf(op.getOperand()), to = dimensionsOf(op->getResult(0));
  int64_t behind = llvm::product_of(from.drop_front(static_cast<size_t>(dimension) + 1));
  auto last = static_cast<int64_t>(to.size()) - 1;
  for (int64_t size = 1; last >= 0; size *= to[static_cast<size_t>(last--)])
    if (size >= behind && to[static_cast<size_t>(last)] != 1)
      return size == behind ? last : -1;
  return -1;
}

bool isSummed(Operation *product, unsigned operand, int64_t dimension) {
  stablehlo::DotDimensionNumbersAttr numbers = dotNumbersOf(product);
  return llvm::is_contained(operand == 0 ? numbers.getLhsContractingDimensions()
                                         : numbers.getRhsContractingDimensions(),
                            dimension);
}

/// Whether an op reads the operand best where the elements along the dimension follow each other: rows of
/// products, norms and attention, and what has such rows itself.
bool readsRowsAlong(OpOperand &use, int64_t dimension) {
  Operation *user = use.getOwner();
  unsigned operand = use.getOperandNumber();
  bool isLast = dimension + 1 == static_cast<int64_t>(dimensionsOf(use.get()).size());
  if (isKernelCall(user, "attention"))
    return operand < 3 && isLast;
  if (isKernelCall(user, "norm"))
    return operand == 0 && isLast;
  if (isa<stablehlo::DotGeneralOp>(user) || (isKernelCall(user, "dot") && operand < 2))
    return isSummed(user, operand, dimension);
  bool isResidual = isKernelCall(user, "dot") && use.get().getType() == user->getResult(0).getType();
  return isLast && (isResidual || isa<stablehlo::AddOp, stablehlo::MulOp>(user));
}

/// Whether all that reads the value, through views, wants the elements along the dimension beside each other.
bool feedsRows(mlir::Value value, int64_t dimension, int depth = 0) {
  constexpr int kMostViews = 8;
  return dimension >= 0 && depth < kMostViews && !value.use_empty() &&
         llvm::all_of(
             value.getUses(),
             [&](OpOperand &use) {
               Operation *user = use.getOwner();
               int64_t next = dimension;
               if (auto transpose = dyn_cast<stablehlo::TransposeOp>(user))
                 next =
                     llvm::find(transpose.getPermutation(), dimension) - transpose.getPermutation().begin();
               else if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(user))
                 next = reshapedDimension(reshape, dimension);
               else if (!isa<stablehlo::SliceOp>(user))
                 return readsRowsAlong(use, dimension);
               return feedsRows(user->getResult(0), next, depth + 1);
             });
}

/// In planes, or with the channels of a pixel beside each other where they are wanted so.
View allocatePlanar(Planner &planner, mlir::Value value, int64_t channels) {
  if (!feedsRows(value, channels))
    return planner.allocate(value);
  Sizes order;
  for (size_t i = 0; i < dimensionsOf(value).size(); ++i)
    if (static_cast<int64_t>(i) != channels)
      order.push_back(static_cast<int64_t>(i));
  order.push_back(channels);
  return planner.allocateInOrder(value, order);
}

Result<bool> planFromBlocked(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View blocked, planner.viewDense(op->getOperand(0)));
  ArrayRef<int64_t> order = kernelIntegers(op, "order");
  View planar = dimensionsInOrder(allocatePlanar(planner, op->getResult(0), order[1]), order);
  BlockedTensor tensor = tensorOf(blocked.shape, planar.shape[1], haloIn(op, 0));
  planner.emit(
      std::make_unique<BlockedLayoutStep>(BlockedLayoutStep::Direction::FromBlocks, planar, tensor, blocked),
      {&blocked, 1}, {&planar, 1});
  return true;
}

/// The first layer's input: rows must be contiguous.
Result<View> planarInput(Planner &planner, mlir::Value value, const PlanarOrder &order) {
  TORCHERE_ASSIGN(View view, planner.view(value));
  if (View planar = dimensionsInOrder(view, order); planar.strides[3] == 1)
    return planar;
  TORCHERE_ASSIGN(View dense, planner.viewDense(value));
  return dimensionsInOrder(dense, order);
}

/// A convolution but for its result, without the input if that is null. `operands` begin with the weights;
/// what is read is added to `reads`.
Result<PlannedConvolution> planOperands(Planner &planner, const ConvolutionCall &call, mlir::Value input,
                                        ValueRange operands, std::vector<View> &reads) {
  ConvolutionPlan plan = call.plan(planner.isa());
  ConvolutionViews views;
  if (input && call.isPlanar) {
    TORCHERE_ASSIGN(views.input, planarInput(planner, input, call.inputOrder));
  } else if (input) {
    TORCHERE_ASSIGN(views.input, planner.viewDense(input));
  }
  TORCHERE_ASSIGN(View weights, planner.view(operands.front()));
  views.argument = planner.argumentOf(weights);
  views.isConstant = planner.isConstant(weights);
  views.weights = dimensionsInOrder(weights, call.weightsOrder);
  if (call.isMirrored)
    views.weights = reversed(views.weights, Sizes{2, 3, 4});
  if (input)
    reads.push_back(views.input);
  reads.push_back(views.weights);
  unsigned next = 1;
  for (auto [has, view] : {std::pair(call.hasBias, &views.bias),
                           {call.hasResidual, &views.residual},
                           {call.hasSlopes, &views.slopes},
                           {call.hasFactors, &views.factors},
                           {call.hasFactors, &views.shifts},
                           {call.hasGate, &views.gate}})
    if (has) {
      TORCHERE_ASSIGN(*view, planner.viewDense(operands[next++]));
      reads.push_back(**view);
    }
  views.inputHalo = call.inputHalo;
  views.residualHalo = call.residualHalo;
  views.resultHalo = call.outputHalo;
  views.addsResidualLast = call.addsResidualLast;
  views.activation = call.activation;
  return PlannedConvolution(plan, std::move(views));
}

View allocateWorkspace(Planner &planner, const ConvolutionCall &call) {
  return planner.allocate(ElementType::U8, {call.plan(planner.isa()).workspaceBytes(call.inputHalo)});
}

Result<bool> planConvolutionCall(Planner &planner, Operation *op) {
  ConvolutionCall call = convolutionCallIn(op);
  std::vector<View> reads;
  TORCHERE_ASSIGN(PlannedConvolution convolution,
                  planOperands(planner, call, op->getOperand(0), op->getOperands().drop_front(), reads));
  ConvolutionViews &views = convolution.views;
  views.result = planner.allocate(op->getResult(0));
  views.workspace = allocateWorkspace(planner, call);
  std::vector<View> writes{views.result, views.workspace};
  planner.emit(std::make_unique<ConvolutionStep>(std::move(convolution)), reads, writes);
  return true;
}

Result<bool> planConvolutionPair(Planner &planner, Operation *op) {
  auto callOf = [&](StringRef name) {
    return convolutionCallIn(cast<DictionaryAttr>(kernelAttribute(op, name)));
  };
  ConvolutionCall call = callOf("first"), window = callOf("depthwise");
  std::vector<View> reads;
  ValueRange operands = op->getOperands();
  TORCHERE_ASSIGN(PlannedConvolution first,
                  planOperands(planner, call, operands.front(), operands.drop_front(), reads));
  TORCHERE_ASSIGN(PlannedConvolution depthwise,
                  planOperands(planner, window, {}, operands.drop_front(call.operandCount()), reads));
  depthwise.views.result = planner.allocate(op->getResult(0));
  first.views.workspace = allocateWorkspace(planner, call);
  std::vector<View> writes{depthwise.views.result, first.views.workspace};
  planner.emit(std::make_unique<ConvolutionPairStep>(std::move(first), std::move(depthwise)), reads, writes);
  return true;
}

Result<bool> planPool(Planner &planner, Operation *op) {
  ArrayRef<int64_t> window = kernelIntegers(op, "window");
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  View result = planner.allocate(op->getResult(0));
  PoolingArgs args;
  args.average = kernelFlag(op, "mean");
  args.countPadding = kernelFlag(op, "count_padding");
  for (size_t axis = 0; axis < 2; ++axis) {
    args.kernel[axis] = window[axis];
    args.stride[axis] = window[2 + axis];
    args.padding[axis] = window[4 + axis];
    args.dilation[axis] = window[6 + axis];
  }
  args.depth = depthIn(op);
  args.input = tensorOf(input.shape, kernelInteger(op, "channels"), haloIn(op, 0));
  args.output = tensorOf(result.shape, kernelInteger(op, "channels"), haloIn(op, 1));
  planner.emit(std::make_unique<PoolingStep>(args, input, result), {&input, 1}, {&result, 1});
  return true;
}

Result<bool> planUpsampling(Planner &planner, Operation *op) {
  ArrayRef<int64_t> factors = kernelIntegers(op, "factors");
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  View result = planner.allocate(op->getResult(0));
  UpsamplingArgs args;
  args.factor[0] = factors[0];
  args.factor[1] = factors[1];
  args.fillsZeros = kernelFlag(op, "zeros");
  args.input = tensorOf(input.shape, kernelInteger(op, "channels"), haloIn(op, 0));
  args.output = tensorOf(result.shape, kernelInteger(op, "channels"), haloIn(op, 1));
  planner.emit(std::make_unique<UpsamplingStep>(args, input, result), {&input, 1}, {&result, 1});
  return true;
}

Result<bool> planWeightGradient(Planner &planner, Operation *op) {
  ArrayRef<int64_t> window = kernelIntegers(op, "window");
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  TORCHERE_ASSIGN(View pixels, planner.viewDense(op->getOperand(1)));
  View result = planner.allocate(op->getResult(0));
  WeightGradientArgs args;
  args.groups = kernelInteger(op, "groups");
  for (size_t axis = 0; axis < 2; ++axis) {
    args.kernel[axis] = result.shape[2 + axis];
    args.stride[axis] = window[axis];
    args.padding[axis] = window[2 + axis];
    args.dilation[axis] = window[4 + axis];
  }
  args.input = tensorOf(input.shape, result.shape[1] * args.groups, haloIn(op, 0));
  args.pixels = tensorOf(pixels.shape, result.shape[0], haloIn(op, 1));
  View workspace = planner.allocate(ElementType::U8, {args.workspaceBytes()});
  std::vector<View> reads{input, pixels}, writes{result, workspace};
  planner.emit(std::make_unique<WeightGradientStep>(args, input, pixels, workspace, result), reads, writes);
  return true;
}

Result<bool> planGlobalAverage(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  View result = planner.allocate(op->getResult(0));
  BlockedTensor tensor = tensorOf(input.shape, kernelInteger(op, "channels"), haloIn(op, 0));
  planner.emit(std::make_unique<GlobalAverageStep>(tensor, tensor.batch / result.shape[0], input, result),
               {&input, 1}, {&result, 1});
  return true;
}

/// The operands of a norm, dense: what is normalized, the scale, the bias.
struct NormViews {
  std::vector<View> reads;
  std::optional<View> scale, bias;
};
Result<NormViews> normViews(Planner &planner, Operation *op) {
  NormViews views;
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(View view, planner.viewDense(operand));
    views.reads.push_back(view);
  }
  if (kernelFlag(op, "has_scale"))
    views.scale = views.reads[1];
  if (size_t next = views.scale ? 2 : 1; next < views.reads.size())
    views.bias = views.reads[next];
  return views;
}

Result<bool> planChannelNorm(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(NormViews views, normViews(planner, op));
  const View &input = views.reads.front();
  ChannelNormArgs args;
  args.subtractMean = kernelFlag(op, "subtract_mean");
  args.epsilon = kernelNumber(op, "epsilon");
  View result = planner.allocate(op->getResult(0));
  args.input = tensorOf(input.shape, kernelInteger(op, "columns"), haloIn(op, 0));
  args.output = tensorOf(result.shape, kernelInteger(op, "columns"), haloIn(op, 1));
  planner.emit(std::make_unique<ChannelNormStep>(args, input, views.scale, views.bias, result), views.reads,
               {&result, 1});
  return true;
}

Result<bool> planGroupNorm(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(NormViews views, normViews(planner, op));
  const View &input = views.reads.front();
  View result = planner.allocate(op->getResult(0));
  GroupNormArgs args;
  args.groups = kernelInteger(op, "groups");
  args.depth = kernelInteger(op, "depth");
  args.epsilon = kernelNumber(op, "epsilon");
  args.activation = static_cast<Activation>(kernelInteger(op, "activation"));
  args.input = tensorOf(input.shape, kernelInteger(op, "channels"), haloIn(op, 0));
  args.output = tensorOf(result.shape, kernelInteger(op, "channels"), haloIn(op, 1));
  planner.emit(std::make_unique<GroupNormStep>(args, input, views.scale, views.bias, result), views.reads,
               {&result, 1});
  return true;
}

Result<bool> planChannelChoice(Planner &planner, Operation *op) {
  std::vector<ChannelChoiceStep::Input> inputs;
  std::vector<View> reads;
  for (auto [i, channels] : llvm::enumerate(kernelIntegers(op, "inputs"))) {
    TORCHERE_ASSIGN(View view, planner.viewDense(op->getOperand(static_cast<unsigned>(i))));
    inputs.push_back({view, tensorOf(view.shape, channels, haloIn(op, i))});
    reads.push_back(view);
  }
  ArrayRef<int64_t> channels = kernelIntegers(op, "channels");
  View result = planner.allocate(op->getResult(0));
  BlockedTensor output =
      tensorOf(result.shape, static_cast<int64_t>(channels.size()), haloIn(op, inputs.size()));
  planner.emit(std::make_unique<ChannelChoiceStep>(std::move(inputs), Sizes(channels.begin(), channels.end()),
                                                   output, result),
               reads, {&result, 1});
  return true;
}

} // namespace

void addBlocked(PlannerTable &table) {
  table.addCall("torchere_cpu.channel_norm", planChannelNorm);
  table.addCall("torchere_cpu.choose_channels", planChannelChoice);
  table.addCall("torchere_cpu.convolution", planConvolutionCall);
  table.addCall("torchere_cpu.convolution_pair", planConvolutionPair);
  table.addCall("torchere_cpu.from_blocked", planFromBlocked);
  table.addCall("torchere_cpu.global_average", planGlobalAverage);
  table.addCall("torchere_cpu.group_norm", planGroupNorm);
  table.addCall("torchere_cpu.pool", planPool);
  table.addCall("torchere_cpu.to_blocked", planToBlocked);
  table.addCall("torchere_cpu.upsample", planUpsampling);
  table.addCall("torchere_cpu.weight_gradient", planWeightGradient);
}

} // namespace torchere::cpu
