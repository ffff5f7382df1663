// Plans convolutions.
#include "cpu/execute/blocked_steps.h"
#include "cpu/execute/convolution_step.h"
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/planner.h"
#include "cpu/frontend/unfolded_convolution.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A view with its dimensions as N, C, H, W, D (of weights: O, I), of which H and D may be of size 1.
View inOrder(const View &view, int64_t first, int64_t second, ArrayRef<int64_t> spatial) {
  Sizes order{first, second};
  order.insert(order.end(), spatial.begin(), spatial.end());
  View ordered = transposed(view, order);
  if (spatial.size() == 1) {
    ordered.shape.insert(ordered.shape.begin() + 2, 1);
    ordered.strides.insert(ordered.strides.begin() + 2, 0);
  }
  ordered.shape.push_back(1);
  ordered.strides.push_back(0);
  return ordered;
}

/// Whether the kernels take it: nothing is dilated in the input, reversed, or batched by groups.
bool hasKernel(stablehlo::ConvolutionOp op) {
  for (mlir::Value value : SmallVector<mlir::Value>{op->getOperand(0), op->getOperand(1), op->getResult(0)})
    if (dtypeOf(value) != DType::F32 || elementCount(shapeOf(value)) == 0)
      return false;
  size_t rank = op.getDimensionNumbers().getInputSpatialDimensions().size();
  if ((rank != 1 && rank != 2) || op->getAttrOfType<IntegerAttr>("batch_group_count").getInt() != 1)
    return false;
  for (int64_t dilation : integersOf(op, "lhs_dilation", rank, 1))
    if (dilation != 1)
      return false;
  for (int64_t reversal : integersOf(op, "window_reversal", rank, 0))
    if (reversal != 0)
      return false;
  return llvm::all_of(integersOf(op, "padding", 2 * rank, 0), [](int64_t padding) { return padding >= 0; });
}

ConvolutionShape shapeOfConvolution(stablehlo::ConvolutionOp op, const ConvolutionViews &views,
                                    const View &result) {
  ConvolutionShape shape;
  shape.batch = views.input.shape[0];
  shape.inputChannels = views.input.shape[1];
  shape.inputHeight = views.input.shape[2];
  shape.inputWidth = views.input.shape[3];
  shape.outputChannels = result.shape[1];
  shape.outputHeight = result.shape[2];
  shape.outputWidth = result.shape[3];
  shape.groups = op->getAttrOfType<IntegerAttr>("feature_group_count").getInt();
  size_t rank = op.getDimensionNumbers().getInputSpatialDimensions().size();
  Sizes strides = integersOf(op, "window_strides", rank, 1),
        dilations = integersOf(op, "rhs_dilation", rank, 1);
  Sizes padding = integersOf(op, "padding", 2 * rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    size_t axis = i + 2 - rank;
    shape.kernel[axis] = views.weights.shape[axis + 2];
    shape.stride[axis] = strides[i];
    shape.dilation[axis] = dilations[i];
    shape.padding[axis] = padding[2 * i];
  }
  return shape;
}

/// The convolution of planes, through blocks.
void emitBlocked(Planner &planner, const ConvolutionPlan &plan, ConvolutionViews views,
                 const View &planarResult) {
  if (plan.kind != ConvolutionKind::Planar) {
    views.inputHalo = plan.inputHalo();
    BlockedTensor input = ConvolutionStep::inputOf(plan, views.inputHalo);
    View blocks = planner.allocate(ElementType::F32, {input.elements()});
    planner.emit(std::make_unique<BlockedLayoutStep>(BlockedLayoutStep::Direction::ToBlocks, views.input,
                                                     input, blocks),
                 {&views.input, 1}, {&blocks, 1});
    views.input = blocks;
  }
  BlockedTensor tensor = ConvolutionStep::resultOf(plan, 0);
  View blocks = planner.allocate(ElementType::F32, {tensor.elements()});
  views.result = blocks;
  views.workspace = planner.allocate(ElementType::U8, {plan.workspaceBytes(plan.inputHalo())});
  std::vector<View> reads{views.input, views.weights}, writes{views.result, views.workspace};
  planner.emit(std::make_unique<ConvolutionStep>(plan, std::move(views)), reads, writes);
  planner.emit(std::make_unique<BlockedLayoutStep>(BlockedLayoutStep::Direction::FromBlocks, planarResult,
                                                   tensor, blocks),
               {&blocks, 1}, {&planarResult, 1});
}

Result<bool> planConvolutionOp(Planner &planner, Operation *op) {
  auto convolution = cast<stablehlo::ConvolutionOp>(op);
  if (!hasKernel(convolution))
    return planUnfoldedConvolution(planner, op);
  stablehlo::ConvDimensionNumbersAttr numbers = convolution.getDimensionNumbers();
  TORCHERE_ASSIGN(View input, planner.view(op->getOperand(0)));
  TORCHERE_ASSIGN(View weights, planner.view(op->getOperand(1)));
  ConvolutionViews views;
  views.argument = planner.argumentOf(weights);
  views.isConstant = planner.isConstant(weights);
  views.input = inOrder(input, numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
                        numbers.getInputSpatialDimensions());
  views.weights = inOrder(weights, numbers.getKernelOutputFeatureDimension(),
                          numbers.getKernelInputFeatureDimension(), numbers.getKernelSpatialDimensions());
  View result = denseView(0, ElementType::F32, shapeOf(op->getResult(0)));
  View planarResult = inOrder(result, numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                              numbers.getOutputSpatialDimensions());
  ConvolutionShape shape = shapeOfConvolution(convolution, views, planarResult);
  bool isPlanar =
      shape.inputChannels <= mostPlanarChannels && shape.groups == 1 && views.input.strides[3] == 1;
  ConvolutionPlan plan = planConvolution(shape, planner.isa(), isPlanar, /*winograd=*/false);
  result.buffer = planner.allocate(op->getResult(0)).buffer;
  planarResult.buffer = result.buffer;
  emitBlocked(planner, plan, std::move(views), planarResult);
  return true;
}

} // namespace

void addConvolution(PlannerTable &table) {
  table.add("stablehlo.convolution", planConvolutionOp);
}

} // namespace torchere::cpu
