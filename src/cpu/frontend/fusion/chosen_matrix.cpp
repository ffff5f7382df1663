// Products with one of several matrices, as mixtures of experts have them: the matrix is read where it lies,
// and all are packed once where they are weights.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"
#include "passes/precision/products.h"

#include <array>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The matrix that the value is the transpose of, or the value itself.
mlir::Value untransposed(mlir::Value value) {
  auto transpose = value.getDefiningOp<stablehlo::TransposeOp>();
  bool isMatrix = transpose && transpose->hasOneUse() &&
                  transpose.getPermutation() == ArrayRef<int64_t>(std::array<int64_t, 2>{1, 0});
  return isMatrix ? transpose.getOperand() : value;
}

/// The slice of one matrix along the first dimension that the value is, without that dimension; null if it
/// is none, or read elsewhere too.
stablehlo::DynamicSliceOp chosenMatrix(mlir::Value value) {
  auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
  if (!reshape || !reshape->hasOneUse())
    return {};
  auto slice = reshape.getOperand().getDefiningOp<stablehlo::DynamicSliceOp>();
  if (!slice || !slice->hasOneUse())
    return {};
  ArrayRef<int64_t> whole = dimensionsOf(slice->getOperand(0)), part = dimensionsOf(slice->getResult(0));
  bool isStatic = cast<RankedTensorType>(slice->getOperand(0).getType()).hasStaticShape();
  bool isOne = isStatic && whole.size() > 1 && part[0] == 1 && part.drop_front() == whole.drop_front() &&
               dimensionsOf(value) == part.drop_front();
  return isOne ? slice : stablehlo::DynamicSliceOp();
}

bool fuseChosenMatrix(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  auto result = cast<RankedTensorType>(dot->getResult(0).getType());
  mlir::Value matrix = untransposed(dot.getRhs());
  stablehlo::DynamicSliceOp slice = chosenMatrix(matrix);
  if (!slice || !numbers.getRhsBatchingDimensions().empty() || !isFloatTensor(dot.getLhs()) ||
      getElementTypeOrSelf(dot.getLhs().getType()) != getElementTypeOrSelf(dot.getRhs().getType()) ||
      getElementTypeOrSelf(result) != getElementTypeOrSelf(dot.getRhs().getType()) ||
      !result.hasStaticShape() || result.getNumElements() == 0 ||
      cast<RankedTensorType>(dot.getRhs().getType()).getNumElements() == 0)
    return false;
  SmallVector<int64_t> summed;
  for (int64_t dimension : numbers.getRhsContractingDimensions())
    summed.push_back(matrix == dot.getRhs() ? dimension + 1 : 2 - dimension);
  OpBuilder builder(dot);
  Operation *call = createKernelCall(
      builder, dot.getLoc(), "chosen_dot", result, {dot.getLhs(), slice->getOperand(0), slice->getOperand(1)},
      {builder.getNamedAttr("keeps_denormals", builder.getBoolAttr(!passes::hasDefaultPrecision(dot))),
       builder.getNamedAttr("lhs_summed",
                            builder.getDenseI64ArrayAttr(numbers.getLhsContractingDimensions())),
       builder.getNamedAttr("rhs_summed", builder.getDenseI64ArrayAttr(summed))});
  dot->getResult(0).replaceAllUsesWith(call->getResult(0));
  return true;
}

} // namespace

int64_t fuseChosenMatrices(func::FuncOp function) {
  SmallVector<stablehlo::DotGeneralOp> dots;
  function.walk([&](stablehlo::DotGeneralOp dot) { dots.push_back(dot); });
  return llvm::count_if(dots, fuseChosenMatrix);
}

} // namespace torchere::cpu
