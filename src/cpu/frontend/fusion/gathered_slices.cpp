// Implements what is told of gathers of slices.
#include "cpu/frontend/fusion/gathered_slices.h"

#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

bool hasWidePlaces(stablehlo::GatherOp op) {
  Type places = getElementTypeOrSelf(op.getStartIndices().getType());
  return places.isSignlessInteger(32) || places.isSignlessInteger(64);
}

int64_t sliceAxis(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> input = dimensionsOf(op.getOperand()), result = dimensionsOf(op->getResult(0));
  if (numbers.getStartIndexMap().size() != 1 ||
      numbers.getCollapsedSliceDims() != numbers.getStartIndexMap() ||
      !numbers.getOperandBatchingDims().empty() || input.size() != result.size())
    return -1;
  int64_t axis = numbers.getStartIndexMap()[0];
  auto places = cast<RankedTensorType>(op.getStartIndices().getType());
  if (!hasWidePlaces(op))
    return -1;
  bool isList = numbers.getIndexVectorDim() == 1 &&
                (places.getRank() == 1 || (places.getRank() == 2 && places.getDimSize(1) == 1));
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < static_cast<int64_t>(input.size()); ++i)
    if (i != axis)
      others.push_back(i);
  SmallVector<int64_t> slice(input);
  slice[static_cast<size_t>(axis)] = 1;
  bool isWhole = ArrayRef<int64_t>(slice) == op.getSliceSizes();
  return isList && isWhole && ArrayRef<int64_t>(others) == numbers.getOffsetDims() ? axis : -1;
}

} // namespace torchere::cpu
