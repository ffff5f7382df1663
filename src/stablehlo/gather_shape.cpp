// Implements the rules of gather's dimension numbers.
#include "stablehlo/gather_shape.h"

#include "stablehlo/bounds.h"

using namespace mlir;

namespace torchere::stablehlo {

int64_t indexVectorSize(RankedTensorType indices, int64_t indexVectorDim) {
  return indexVectorDim < indices.getRank() ? indices.getDimSize(indexVectorDim) : 1;
}

SmallVector<int64_t> batchSizes(RankedTensorType indices, int64_t indexVectorDim) {
  SmallVector<int64_t> sizes(indices.getShape());
  if (indexVectorDim < indices.getRank())
    sizes.erase(sizes.begin() + indexVectorDim);
  return sizes;
}

namespace {

LogicalResult verifyOperandDims(const Reporter &reporter, const GatherShape &gather) {
  GatherDimensionNumbersAttr numbers = gather.numbers;
  int64_t rank = gather.operand.getRank();
  ArrayRef<int64_t> collapsed = numbers.getCollapsedSliceDims(), batching = numbers.getOperandBatchingDims();
  int64_t roles = numbers.getOffsetDims().size() + collapsed.size() + batching.size();
  if (rank != roles)
    return reporter.violation("C1", "rank of operand: got ", rank,
                              ", expected the number of offset_dims, collapsed_slice_dims and "
                              "operand_batching_dims, ",
                              roles);
  return failure(failed(reporter.unique("C6", "collapsed_slice_dims and operand_batching_dims",
                                        joined(collapsed, batching))) ||
                 failed(reporter.sorted("C7", "collapsed_slice_dims", collapsed)) ||
                 failed(reporter.inRange("C8", "collapsed_slice_dims", collapsed, rank)) ||
                 failed(reporter.sorted("C10", "operand_batching_dims", batching)) ||
                 failed(reporter.inRange("C11", "operand_batching_dims", batching, rank)) ||
                 failed(reporter.unique("C18", "start_index_map and operand_batching_dims",
                                        joined(numbers.getStartIndexMap(), batching))) ||
                 failed(reporter.inRange("C19", "start_index_map", numbers.getStartIndexMap(), rank)));
}

LogicalResult verifyIndexDims(const Reporter &reporter, const GatherShape &gather) {
  GatherDimensionNumbersAttr numbers = gather.numbers;
  int64_t indicesRank = gather.indices.getRank(), vectorDim = numbers.getIndexVectorDim();
  if (failed(reporter.inRange("C2", "index_vector_dim", vectorDim, indicesRank + 1)))
    return failure();
  int64_t vectorSize = indexVectorSize(gather.indices, vectorDim);
  if (isKnown(vectorSize) &&
      failed(reporter.size("C3", "start_index_map", numbers.getStartIndexMap().size(), vectorSize)))
    return failure();
  ArrayRef<int64_t> batching = numbers.getStartIndicesBatchingDims();
  if (failed(reporter.unique("C13", "start_indices_batching_dims", batching)) ||
      failed(reporter.inRange("C14", "start_indices_batching_dims", batching, indicesRank)))
    return failure();
  if (llvm::is_contained(batching, vectorDim))
    return reporter.violation("C15", "start_indices_batching_dims contains index_vector_dim ", vectorDim);
  ArrayRef<int64_t> operandBatching = numbers.getOperandBatchingDims();
  if (failed(reporter.size("C16", "start_indices_batching_dims", batching.size(), operandBatching.size())))
    return failure();
  for (auto [operand, index] : llvm::zip(operandBatching, batching))
    if (!mayEqual(gather.operand.getDimSize(operand), gather.indices.getDimSize(index)))
      return reporter.violation("C17", "batching dimensions differ in size: operand dimension ", operand,
                                " has ", gather.operand.getDimSize(operand), ", start_indices dimension ",
                                index, " has ", gather.indices.getDimSize(index));
  return success();
}

LogicalResult verifySliceSizes(const Reporter &reporter, const GatherShape &gather) {
  if (failed(reporter.size("C20", "slice_sizes", gather.sliceSizes.size(), gather.operand.getRank())))
    return failure();
  auto verifyAtMostOne = [&](StringRef constraint, StringRef name,
                             ArrayRef<int64_t> dimensions) -> LogicalResult {
    for (int64_t dimension : dimensions)
      if (isKnown(gather.sliceSizes[dimension]) && gather.sliceSizes[dimension] > 1)
        return reporter.violation(constraint, "slice size of dimension ", dimension, " in ", name, ": got ",
                                  gather.sliceSizes[dimension], ", expected at most 1");
    return success();
  };
  if (failed(verifyAtMostOne("C9", "collapsed_slice_dims", gather.numbers.getCollapsedSliceDims())) ||
      failed(verifyAtMostOne("C12", "operand_batching_dims", gather.numbers.getOperandBatchingDims())))
    return failure();
  for (auto [index, slice] : llvm::enumerate(gather.sliceSizes)) {
    int64_t size = gather.operand.getDimSize(index);
    if (isKnown(slice) && (slice < 0 || (isKnown(size) && slice > size)))
      return reporter.violation("C21", "slice size of dimension ", index, ": got ", slice,
                                ", expected it in [0, ", isKnown(size) ? std::to_string(size) : "?", "]");
  }
  return success();
}

} // namespace

FailureOr<RankedTensorType> inferGather(const Reporter &reporter, const GatherShape &gather) {
  if (failed(verifyOperandDims(reporter, gather)) || failed(verifyIndexDims(reporter, gather)) ||
      failed(verifySliceSizes(reporter, gather)))
    return failure();
  GatherDimensionNumbersAttr numbers = gather.numbers;
  ArrayRef<int64_t> offsets = numbers.getOffsetDims();
  SmallVector<int64_t> batch = batchSizes(gather.indices, numbers.getIndexVectorDim());
  int64_t rank = batch.size() + offsets.size();
  if (failed(reporter.unique("C4", "offset_dims", offsets)) ||
      failed(reporter.sorted("C4", "offset_dims", offsets)) ||
      failed(reporter.inRange("C5", "offset_dims", offsets, rank)))
    return failure();
  SmallVector<int64_t> offsetSizes;
  for (auto [index, slice] : llvm::enumerate(gather.sliceSizes))
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), static_cast<int64_t>(index)) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), static_cast<int64_t>(index)))
      offsetSizes.push_back(slice);
  SmallVector<int64_t> shape;
  auto nextOffset = offsetSizes.begin();
  auto nextBatch = batch.begin();
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    shape.push_back(llvm::is_contained(offsets, dimension) ? *nextOffset++ : *nextBatch++);
  return withShape(gather.operand, shape);
}

SmallVector<int64_t> joined(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  SmallVector<int64_t> all(first);
  llvm::append_range(all, second);
  return all;
}

} // namespace torchere::stablehlo
