// Implements sliceSizesWithin.
#include "passes/shapes/empty_slices.h"

#include "stablehlo/constraint.h"

using namespace mlir;

namespace torchere::passes {

/// Whether the result may have no elements: no slices, or slices of none. Where it has some after all, the
/// gather is refused when it is computed.
static bool mayTakeNothing(RankedTensorType indices, stablehlo::GatherDimensionNumbersAttr numbers,
                           ArrayRef<int64_t> sliceSizes) {
  for (auto [dimension, size] : llvm::enumerate(indices.getShape()))
    if ((size == 0 || !isKnown(size)) && static_cast<int64_t>(dimension) != numbers.getIndexVectorDim())
      return true;
  for (auto [dimension, size] : llvm::enumerate(sliceSizes)) {
    auto at = static_cast<int64_t>(dimension);
    if (size == 0 && !llvm::is_contained(numbers.getCollapsedSliceDims(), at) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), at))
      return true;
  }
  return false;
}

SmallVector<int64_t> sliceSizesWithin(RankedTensorType operand, RankedTensorType indices,
                                      stablehlo::GatherDimensionNumbersAttr numbers,
                                      ArrayRef<int64_t> sliceSizes) {
  SmallVector<int64_t> sizes(sliceSizes);
  if (static_cast<int64_t>(sizes.size()) != operand.getRank() || !mayTakeNothing(indices, numbers, sizes))
    return sizes;
  for (ArrayRef<int64_t> joined : {numbers.getCollapsedSliceDims(), numbers.getOperandBatchingDims()})
    for (int64_t dimension : joined)
      if (dimension >= 0 && dimension < operand.getRank() && operand.getDimSize(dimension) == 0)
        sizes[dimension] = 0;
  return sizes;
}

} // namespace torchere::passes
