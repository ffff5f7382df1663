// Finds convolutions whose window meets the whole input at one place, as the gradients of 1x1 weights do:
// products that contract channels and space.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Fewer taps are left to kernels on blocks, where the pixel's channels lie, unless images are summed over.
constexpr int64_t kLeastTaps = 16;

/// The places that the window meets: those that its dilation leaves out are left out of the input, and so are
/// those that negative padding takes away.
Value inputAtTaps(OpBuilder &builder, stablehlo::ConvolutionOp op, RankedTensorType taps) {
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  ArrayRef<int64_t> space = op.getDimensionNumbers().getInputSpatialDimensions();
  SmallVector<int64_t> begin(static_cast<size_t>(type.getRank()), 0), limit(type.getShape()),
      step(begin.size(), 1);
  SmallVector<int64_t> shape(limit), padding = paddingOf(op);
  for (auto [axis, dimension] : llvm::enumerate(space)) {
    auto at = static_cast<size_t>(dimension);
    step[at] = op.getRhsDilation() ? (*op.getRhsDilation())[axis] : 1;
    shape[at] =
        taps.getDimSize(static_cast<unsigned>(op.getDimensionNumbers().getKernelSpatialDimensions()[axis]));
    begin[at] = -padding[2 * axis];
    limit[at] = begin[at] + (shape[at] - 1) * step[at] + 1;
  }
  if (shape == type.getShape())
    return op.getLhs();
  return stablehlo::SliceOp::create(builder, op.getLoc(), type.clone(shape), op.getLhs(),
                                    builder.getDenseI64ArrayAttr(begin), builder.getDenseI64ArrayAttr(limit),
                                    builder.getDenseI64ArrayAttr(step))
      ->getResult(0);
}

bool isWholeWindow(stablehlo::ConvolutionOp op) {
  auto isPlain = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && isa<FloatType>(type.getElementType()) &&
           type.getNumElements() > 0;
  };
  auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
  if (!isPlain(op.getLhs()) || !isPlain(op.getRhs()) || !isPlain(op->getResult(0)) ||
      op.getLhs().getType() == op->getResult(0).getType() || op.getBatchGroupCount() != 1 ||
      op.getFeatureGroupCount() != 1 || !isAll(op.getLhsDilation(), 1) ||
      (reversal && llvm::is_contained(reversal.asArrayRef(), true)) ||
      llvm::any_of(paddingOf(op), [](int64_t padding) { return padding > 0; }))
    return false;
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  auto taps = cast<RankedTensorType>(op.getRhs().getType());
  int64_t count = 1;
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    count *= taps.getDimSize(static_cast<unsigned>(dimension));
  bool isGradient = numbers.getInputFeatureDimension() == 0;
  return (isGradient || count >= kLeastTaps) &&
         llvm::all_of(numbers.getOutputSpatialDimensions(), [&](int64_t dimension) {
           return result.getDimSize(static_cast<unsigned>(dimension)) == 1;
         });
}

void replaceByProduct(stablehlo::ConvolutionOp op) {
  OpBuilder builder(op);
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  auto taps = cast<RankedTensorType>(op.getRhs().getType());
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> left{numbers.getInputFeatureDimension()},
      right{numbers.getKernelInputFeatureDimension()};
  llvm::append_range(left, numbers.getInputSpatialDimensions());
  llvm::append_range(right, numbers.getKernelSpatialDimensions());
  Value input = inputAtTaps(builder, op, taps);
  int64_t batch = type.getDimSize(static_cast<unsigned>(numbers.getOutputBatchDimension()));
  int64_t outputs = type.getDimSize(static_cast<unsigned>(numbers.getOutputFeatureDimension()));
  OperationState state(op.getLoc(), stablehlo::DotGeneralOp::getOperationName());
  state.addTypes(type.clone({batch, outputs}));
  state.addOperands({input, op.getRhs()});
  state.addAttribute("dot_dimension_numbers",
                     stablehlo::DotDimensionNumbersAttr::get(op.getContext(), {}, {}, left, right));
  if (Attribute precision = op->getAttr("precision_config"))
    state.addAttribute("precision_config", precision);
  Value product = builder.create(state)->getResult(0);
  if (numbers.getOutputBatchDimension() > numbers.getOutputFeatureDimension())
    product = stablehlo::TransposeOp::create(builder, op.getLoc(), type.clone({outputs, batch}), product,
                                             builder.getDenseI64ArrayAttr({1, 0}))
                  ->getResult(0);
  op->getResult(0).replaceAllUsesWith(
      stablehlo::ReshapeOp::create(builder, op.getLoc(), type, product)->getResult(0));
}

} // namespace

int64_t fuseWholeWindows(func::FuncOp function) {
  SmallVector<stablehlo::ConvolutionOp> found;
  function.walk([&](stablehlo::ConvolutionOp op) {
    if (isWholeWindow(op))
      found.push_back(op);
  });
  llvm::for_each(found, replaceByProduct);
  return static_cast<int64_t>(found.size());
}

} // namespace torchere::cpu
