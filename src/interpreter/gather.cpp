// Implements gather, by the formulas of the specification.
#include "interpreter/gather.h"

#include "evaluation/rearrangement.h"
#include "stablehlo/dialect.h"

#include <algorithm>

namespace torchere::interpreter {

SlicePlaces::SlicePlaces(const SliceDimensions &dimensions, const Tensor &indices, int64_t operandRank)
    : dimensions(dimensions), indices(indices), operandRank(operandRank) {
  for (int64_t dimension = 0; dimension < operandRank; ++dimension)
    if (!llvm::is_contained(dimensions.collapsed, dimension) &&
        !llvm::is_contained(dimensions.operandBatching, dimension))
      windowOfOperand.push_back(dimension);
}

void SlicePlaces::start(IndexView index, Index &start) const {
  Index at; // of the index vector: the element's remaining dimensions, in order
  for (size_t dimension = 0; dimension < index.size(); ++dimension)
    if (!llvm::is_contained(dimensions.window, static_cast<int64_t>(dimension)))
      at.push_back(index[dimension]);
  start.assign(static_cast<size_t>(operandRank), 0);
  for (auto [operand, batch] : llvm::zip_equal(dimensions.operandBatching, dimensions.indicesBatching))
    start[operand] = at[batch - (batch > dimensions.indexVectorDim ? 1 : 0)];
  bool hasVectors = dimensions.indexVectorDim < indices.rank();
  if (hasVectors)
    at.insert(at.begin() + dimensions.indexVectorDim, 0);
  for (auto [component, operand] : llvm::enumerate(dimensions.indexMap)) {
    if (hasVectors)
      at[dimensions.indexVectorDim] = static_cast<int64_t>(component);
    Element value = indices.at(at);
    bool isHuge = isUnsigned(value.type()) && value.asSigned() < 0;
    start[operand] = isHuge ? std::numeric_limits<int64_t>::max() : value.asSigned();
  }
}

void SlicePlaces::offset(IndexView index, Index &offset) const {
  offset.assign(static_cast<size_t>(operandRank), 0);
  for (auto [window, operand] : llvm::zip_equal(dimensions.window, windowOfOperand))
    offset[operand] = index[window];
}

static Index resultShape(const SliceDimensions &dimensions, const Tensor &indices, const Index &sliceSizes) {
  Index batch = indices.shape(), window;
  if (dimensions.indexVectorDim < indices.rank())
    batch.erase(batch.begin() + dimensions.indexVectorDim);
  for (size_t dimension = 0; dimension < sliceSizes.size(); ++dimension)
    if (!llvm::is_contained(dimensions.collapsed, static_cast<int64_t>(dimension)) &&
        !llvm::is_contained(dimensions.operandBatching, static_cast<int64_t>(dimension)))
      window.push_back(sliceSizes[dimension]);
  Index shape;
  auto nextBatch = batch.begin(), nextWindow = window.begin();
  for (size_t dimension = 0; dimension < batch.size() + window.size(); ++dimension)
    shape.push_back(llvm::is_contained(dimensions.window, static_cast<int64_t>(dimension)) ? *nextWindow++
                                                                                           : *nextBatch++);
  return shape;
}

/// Slices fit the operand, and have an element for each of the result's. Nothing is taken from nothing: where
/// the result has no elements, the operand may have less than a slice.
static Status checkSliceSizes(IndexView operand, const SliceDimensions &dimensions, const Tensor &indices,
                              const Index &sliceSizes) {
  bool isNegative = llvm::any_of(sliceSizes, [](int64_t size) { return size < 0; });
  if (!isNegative && llvm::is_contained(resultShape(dimensions, indices, sliceSizes), 0))
    return {};
  for (size_t dimension = 0; dimension < sliceSizes.size(); ++dimension) {
    auto at = static_cast<int64_t>(dimension);
    bool isOne =
        llvm::is_contained(dimensions.collapsed, at) || llvm::is_contained(dimensions.operandBatching, at);
    if (sliceSizes[dimension] < (isOne ? 1 : 0) || sliceSizes[dimension] > operand[dimension])
      return invalidArgument("slice size of dimension {}: got {}, expected it in [{}, {}]", dimension,
                             sliceSizes[dimension], isOne ? 1 : 0, operand[dimension]);
  }
  return {};
}

Result<Values> gatherBy(const Call &call, const Index &sliceSizes) {
  const Tensor &operand = call.operand(0), &indices = call.operand(1);
  auto numbers = call.attribute<stablehlo::GatherDimensionNumbersAttr>("dimension_numbers");
  SliceDimensions dimensions = {
      Index(numbers.getOffsetDims()),          Index(numbers.getCollapsedSliceDims()),
      Index(numbers.getOperandBatchingDims()), Index(numbers.getStartIndicesBatchingDims()),
      Index(numbers.getStartIndexMap()),       numbers.getIndexVectorDim()};
  TORCHERE_TRY(checkSliceSizes(operand.shape(), dimensions, indices, sliceSizes));
  Index shape = resultShape(dimensions, indices, sliceSizes);
  SlicePlaces places(dimensions, indices, operand.rank());
  Index from, offset;
  return oneResult(take(operand, shape, [&](IndexView index) {
    places.start(index, from);
    places.offset(index, offset);
    for (size_t dimension = 0; dimension < from.size(); ++dimension)
      from[dimension] =
          offset[dimension] +
          std::clamp<int64_t>(from[dimension], 0, operand.shape()[dimension] - sliceSizes[dimension]);
    return flatten(from, operand.shape());
  }));
}

} // namespace torchere::interpreter
