// Implements the planning of convolutions by patches.
#include "cpu/frontend/patch_convolution.h"

#include "cpu/execute/patch_convolution_step.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

constexpr size_t mostDimensions = 8;

Sizes dimensionOrder(int64_t first, int64_t second, ArrayRef<int64_t> space) {
  Sizes order{first, second};
  order.insert(order.end(), space.begin(), space.end());
  return order;
}

bool isTypeOfProducts(mlir::Value value) {
  ElementType type = elementTypeOf(value);
  return dtypeOf(value) && (isFloat(type) || isInteger(type)) && elementTypeInfo(type).bits >= 32;
}

/// The views' dimensions are in order.
PatchConvolution describe(Operation *op, const View &input, const View &weights, const View &result) {
  PatchConvolution made;
  made.type = *dtypeOf(op->getResult(0));
  made.batch = result.shape[0];
  made.channels = weights.shape[1];
  made.features = weights.shape[0];
  int64_t batchGroups = op->getAttrOfType<IntegerAttr>("batch_group_count").getInt();
  made.groupsBatch = batchGroups > 1;
  made.groups =
      made.groupsBatch ? batchGroups : op->getAttrOfType<IntegerAttr>("feature_group_count").getInt();
  size_t rank = input.shape.size() - 2;
  Sizes strides = integersOf(op, "window_strides", rank, 1), padding = integersOf(op, "padding", 2 * rank, 0),
        inputDilation = integersOf(op, "lhs_dilation", rank, 1),
        kernelDilation = integersOf(op, "rhs_dilation", rank, 1);
  for (size_t i = 0; i < rank; ++i)
    made.space.push_back({input.shape[i + 2], weights.shape[i + 2], result.shape[i + 2], strides[i],
                          padding[2 * i], inputDilation[i], kernelDilation[i]});
  return made;
}

} // namespace

Result<bool> planPatchConvolution(Planner &planner, Operation *op) {
  auto numbers = cast<stablehlo::ConvolutionOp>(op).getDimensionNumbers();
  size_t rank = numbers.getInputSpatialDimensions().size();
  mlir::Value value = op->getResult(0);
  bool isOneType = elementTypeOf(op->getOperand(0)) == elementTypeOf(value) &&
                   elementTypeOf(op->getOperand(1)) == elementTypeOf(value);
  bool isEmpty = llvm::any_of(SmallVector<mlir::Value>{op->getOperand(0), op->getOperand(1), value},
                              [](mlir::Value each) { return elementCount(shapeOf(each)) == 0; });
  if (!isOneType || !isTypeOfProducts(value) || rank > mostDimensions || isEmpty)
    return false;
  TORCHERE_ASSIGN(View input, planner.view(op->getOperand(0)));
  TORCHERE_ASSIGN(View weights, planner.view(op->getOperand(1)));
  input =
      transposed(input, dimensionOrder(numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
                                       numbers.getInputSpatialDimensions()));
  weights = transposed(weights, dimensionOrder(numbers.getKernelOutputFeatureDimension(),
                                               numbers.getKernelInputFeatureDimension(),
                                               numbers.getKernelSpatialDimensions()));
  Sizes reversal = integersOf(op, "window_reversal", rank, 0), turned;
  for (size_t i = 0; i < rank; ++i)
    if (reversal[i] != 0)
      turned.push_back(static_cast<int64_t>(i) + 2);
  weights = reversed(weights, turned);
  if (!isDense(weights)) {
    View dense = planner.allocate(weights.type, weights.shape);
    TORCHERE_TRY(planner.emitCopy(weights, dense));
    weights = dense;
  }
  Sizes order = dimensionOrder(numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                               numbers.getOutputSpatialDimensions());
  Sizes shape = shapeOf(value), inOrder, back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inOrder.push_back(shape[static_cast<size_t>(order[i])]);
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  View result = planner.allocate(input.type, inOrder);
  std::vector<View> reads{input, weights};
  planner.emit(
      std::make_unique<PatchConvolutionStep>(describe(op, input, weights, result), input, weights, result),
      reads, {&result, 1});
  planner.bind(value, transposed(result, back));
  return true;
}

} // namespace torchere::cpu
