// Plans the convolutions that blocks of channels do not suit, by unfolding their input: dilated inputs, few
// channels a group, batch groups, reversed windows, any number of axes, all types that products have. Those
// of complex numbers and floats of 8 bits are evaluated.
#include "cpu/execute/unfolded_convolution_step.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool hasTypes(DType operand, DType result) {
  bool isFloat = dtypeInfo(operand).isFloatingPoint;
  if (isFloat != dtypeInfo(result).isFloatingPoint)
    return false;
  bool isHalf = operand == DType::F16 || operand == DType::BF16;
  return !isFloat || operand == result || (isHalf && result == DType::F32);
}

ConvolvedTensor tensorOf(const View &view, int64_t first, int64_t second, ArrayRef<int64_t> spatial) {
  ConvolvedTensor tensor;
  tensor.first = view.strides[static_cast<size_t>(first)];
  tensor.second = view.strides[static_cast<size_t>(second)];
  for (size_t i = 0; i < spatial.size(); ++i)
    tensor.spatial[i] = view.strides[static_cast<size_t>(spatial[i])];
  return tensor;
}

void fillAxes(stablehlo::ConvolutionOp op, UnfoldedConvolution &args) {
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  Sizes input = shapeOf(op->getOperand(0)), kernel = shapeOf(op->getOperand(1)),
        output = shapeOf(op->getResult(0));
  size_t rank = numbers.getInputSpatialDimensions().size();
  Sizes strides = integersOf(op, "window_strides", rank, 1), padding = integersOf(op, "padding", 2 * rank, 0);
  Sizes inputDilations = integersOf(op, "lhs_dilation", rank, 1),
        kernelDilations = integersOf(op, "rhs_dilation", rank, 1);
  Sizes reversals = integersOf(op, "window_reversal", rank, 0);
  args.rank = static_cast<int>(rank);
  for (size_t i = 0; i < rank; ++i) {
    ConvolvedAxis &axis = args.axes[i];
    axis.input = input[static_cast<size_t>(numbers.getInputSpatialDimensions()[i])];
    axis.output = output[static_cast<size_t>(numbers.getOutputSpatialDimensions()[i])];
    axis.kernel = kernel[static_cast<size_t>(numbers.getKernelSpatialDimensions()[i])];
    axis.stride = strides[i];
    axis.padding = padding[2 * i];
    axis.inputDilation = inputDilations[i];
    axis.kernelDilation = kernelDilations[i];
    axis.reversed = reversals[i] != 0;
  }
}

Result<bool> planConvolutionOp(Planner &planner, Operation *op) {
  auto convolution = cast<stablehlo::ConvolutionOp>(op);
  mlir::Value input = op->getOperand(0), weights = op->getOperand(1), result = op->getResult(0);
  stablehlo::ConvDimensionNumbersAttr numbers = convolution.getDimensionNumbers();
  if (!llvm::all_of(SmallVector<mlir::Value>{input, weights, result}, hasVectorType) ||
      dtypeOf(input) != dtypeOf(weights) || !hasTypes(*dtypeOf(input), *dtypeOf(result)) ||
      numbers.getInputSpatialDimensions().size() > kMaxSpatialRank)
    return false;
  UnfoldedConvolution args;
  args.type = *dtypeOf(input);
  args.resultType = *dtypeOf(result);
  fillAxes(convolution, args);
  int64_t featureGroups = op->getAttrOfType<IntegerAttr>("feature_group_count").getInt();
  int64_t batchGroups = op->getAttrOfType<IntegerAttr>("batch_group_count").getInt();
  args.groups = std::max(featureGroups, batchGroups);
  args.batchGroups = batchGroups > 1;
  TORCHERE_ASSIGN(View from, planner.view(input));
  TORCHERE_ASSIGN(View by, planner.view(weights));
  View to = planner.allocate(result);
  args.batch = to.shape[static_cast<size_t>(numbers.getOutputBatchDimension())];
  args.groupInputs = by.shape[static_cast<size_t>(numbers.getKernelInputFeatureDimension())];
  args.groupOutputs = by.shape[static_cast<size_t>(numbers.getKernelOutputFeatureDimension())] / args.groups;
  args.input = tensorOf(from, numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
                        numbers.getInputSpatialDimensions());
  args.weights = tensorOf(by, numbers.getKernelOutputFeatureDimension(),
                          numbers.getKernelInputFeatureDimension(), numbers.getKernelSpatialDimensions());
  args.output = tensorOf(to, numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                         numbers.getOutputSpatialDimensions());
  View workspace = planner.allocate(ElementType::U8, {unfoldedWorkspaceBytes(args)});
  std::vector<View> reads{from, by}, writes{to, workspace};
  planner.emit(std::make_unique<UnfoldedConvolutionStep>(args, from, by, to, workspace), reads, writes);
  return true;
}

} // namespace

void addConvolution(PlannerTable &table) {
  table.add("stablehlo.convolution", planConvolutionOp);
}

} // namespace torchere::cpu
