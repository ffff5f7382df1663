// Prepares convolutions in one dimension of space for the kernels in blocks, which have two: blocks have a
// halo on all four sides, so a row is padded before it is laid out, and rows of dilated inputs become planes
// of height 1.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/splats.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isRowOfF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getRank() == 3 && type.getElementType().isF32() &&
         type.getNumElements() > 0;
}

bool isDilated(stablehlo::ConvolutionOp op) {
  return !isAll(op.getLhsDilation(), 1);
}

/// With zeros around it, before anything else.
bool padFirst(stablehlo::ConvolutionOp op) {
  SmallVector<int64_t> padding = paddingOf(op);
  if (isDilated(op) || llvm::any_of(padding, [](int64_t side) { return side < 0; }) ||
      llvm::all_of(padding, [](int64_t side) { return side == 0; }))
    return false;
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  auto space = static_cast<size_t>(op.getDimensionNumbers().getInputSpatialDimensions().front());
  SmallVector<int64_t> none(3), low = none, high = none, shape(type.getShape());
  low[space] = padding[0];
  high[space] = padding[1];
  shape[space] += padding[0] + padding[1];
  Value zero = splatOf(builder, op.getLoc(), type.clone(ArrayRef<int64_t>()), 0);
  Value padded =
      stablehlo::PadOp::create(builder, op.getLoc(), type.clone(shape), op.getLhs(), zero,
                               builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high),
                               builder.getDenseI64ArrayAttr(none))
          ->getResult(0);
  op->setOperand(0, padded);
  op->setAttr("padding", paddingAttribute(builder, {0, 0}));
  return true;
}

RankedTensorType planeType(Value row) {
  auto type = cast<RankedTensorType>(row.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  return type.clone(shape);
}

/// The list with an entry in front, for the axis of height 1.
DenseI64ArrayAttr withHeight(Builder &builder, std::optional<ArrayRef<int64_t>> list) {
  return builder.getDenseI64ArrayAttr({1, list ? list->front() : 1});
}

/// The height is a last dimension, so that the operands are views.
void makePlanes(stablehlo::ConvolutionOp op) {
  OpBuilder builder(op);
  auto plane = [&](Value row) -> Value {
    return stablehlo::ReshapeOp::create(builder, op.getLoc(), planeType(row), row)->getResult(0);
  };
  stablehlo::ConvDimensionNumbersAttr rows = op.getDimensionNumbers();
  auto axes = [](ArrayRef<int64_t> spatial) { return SmallVector<int64_t>{3, spatial.front()}; };
  auto planes = stablehlo::ConvDimensionNumbersAttr::get(
      builder.getContext(), rows.getInputBatchDimension(), rows.getInputFeatureDimension(),
      axes(rows.getInputSpatialDimensions()), rows.getKernelInputFeatureDimension(),
      rows.getKernelOutputFeatureDimension(), axes(rows.getKernelSpatialDimensions()),
      rows.getOutputBatchDimension(), rows.getOutputFeatureDimension(),
      axes(rows.getOutputSpatialDimensions()));
  auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
  bool isReversed = reversal && reversal.asArrayRef().front();
  SmallVector<int64_t> padding = paddingOf(op);
  OperationState state(op.getLoc(), stablehlo::ConvolutionOp::getOperationName());
  state.addTypes(planeType(op->getResult(0)));
  state.addOperands({plane(op.getLhs()), plane(op.getRhs())});
  state.addAttributes(op->getAttrs());
  state.attributes.set("dimension_numbers", planes);
  state.attributes.set("window_strides", withHeight(builder, op.getWindowStrides()));
  state.attributes.set("lhs_dilation", withHeight(builder, op.getLhsDilation()));
  state.attributes.set("rhs_dilation", withHeight(builder, op.getRhsDilation()));
  state.attributes.set("window_reversal", builder.getDenseBoolArrayAttr({isReversed, isReversed}));
  state.attributes.set("padding", paddingAttribute(builder, {0, 0, padding[0], padding[1]}));
  Value result = builder.create(state)->getResult(0);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  op->getResult(0).replaceAllUsesWith(
      stablehlo::ReshapeOp::create(builder, op.getLoc(), type, result)->getResult(0));
  op->erase();
}

} // namespace

int64_t fuseRowConvolutions(func::FuncOp function) {
  int64_t count = 0;
  SmallVector<stablehlo::ConvolutionOp> rows;
  function.walk([&](stablehlo::ConvolutionOp op) {
    if (isRowOfF32(op.getLhs()) && isRowOfF32(op.getRhs()) && isRowOfF32(op->getResult(0)) &&
        op.getBatchGroupCount() == 1)
      rows.push_back(op);
  });
  for (stablehlo::ConvolutionOp op : rows)
    if (isDilated(op)) {
      makePlanes(op);
      ++count;
    } else {
      count += padFirst(op);
    }
  return count;
}

} // namespace torchere::cpu
