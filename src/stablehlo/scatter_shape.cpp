// The rules of scatter's dimension numbers and operands.
#include "stablehlo/gather_shape.h"
#include "stablehlo/region.h"

using namespace mlir;

namespace torchere::stablehlo {

namespace {

LogicalResult verifySameShapes(const Reporter &reporter, StringRef constraint, StringRef name,
                               ValueRange values) {
  for (Value value : values)
    if (failed(verifyCompatibleShape(values.front().getType(), value.getType())))
      return reporter.violation(constraint, "shapes of the ", name, " differ: got ", values.front().getType(),
                                " and ", value.getType());
  return success();
}

LogicalResult verifyInputDims(const Reporter &reporter, ScatterDimensionNumbersAttr numbers, int64_t rank) {
  ArrayRef<int64_t> inserted = numbers.getInsertedWindowDims(), batching = numbers.getInputBatchingDims();
  int64_t roles = numbers.getUpdateWindowDims().size() + inserted.size() + batching.size();
  if (rank != roles)
    return reporter.violation("C2", "rank of the inputs: got ", rank,
                              ", expected the number of update_window_dims, inserted_window_dims and "
                              "input_batching_dims, ",
                              roles);
  return failure(failed(reporter.unique("C9", "inserted_window_dims and input_batching_dims",
                                        joined(inserted, batching))) ||
                 failed(reporter.sorted("C10", "inserted_window_dims", inserted)) ||
                 failed(reporter.inRange("C11", "inserted_window_dims", inserted, rank)) ||
                 failed(reporter.sorted("C12", "input_batching_dims", batching)) ||
                 failed(reporter.inRange("C13", "input_batching_dims", batching, rank)) ||
                 failed(reporter.unique("C20", "scatter_dims_to_operand_dims and input_batching_dims",
                                        joined(numbers.getScatterDimsToOperandDims(), batching))) ||
                 failed(reporter.inRange("C21", "scatter_dims_to_operand_dims",
                                         numbers.getScatterDimsToOperandDims(), rank)));
}

LogicalResult verifyIndexDims(const Reporter &reporter, ScatterDimensionNumbersAttr numbers,
                              RankedTensorType input, RankedTensorType indices) {
  int64_t vectorDim = numbers.getIndexVectorDim();
  if (failed(reporter.inRange("C22", "index_vector_dim", vectorDim, indices.getRank() + 1)))
    return failure();
  int64_t vectorSize = indexVectorSize(indices, vectorDim);
  if (isKnown(vectorSize) && failed(reporter.size("C19", "scatter_dims_to_operand_dims",
                                                  numbers.getScatterDimsToOperandDims().size(), vectorSize)))
    return failure();
  ArrayRef<int64_t> batching = numbers.getScatterIndicesBatchingDims();
  if (failed(reporter.unique("C14", "scatter_indices_batching_dims", batching)) ||
      failed(reporter.inRange("C15", "scatter_indices_batching_dims", batching, indices.getRank())))
    return failure();
  if (llvm::is_contained(batching, vectorDim))
    return reporter.violation("C16", "scatter_indices_batching_dims contains index_vector_dim ", vectorDim);
  ArrayRef<int64_t> inputBatching = numbers.getInputBatchingDims();
  if (failed(reporter.size("C17", "scatter_indices_batching_dims", batching.size(), inputBatching.size())))
    return failure();
  for (auto [operand, index] : llvm::zip(inputBatching, batching))
    if (!mayEqual(input.getDimSize(operand), indices.getDimSize(index)))
      return reporter.violation("C18", "batching dimensions differ in size: input dimension ", operand,
                                " has ", input.getDimSize(operand), ", scatter_indices dimension ", index,
                                " has ", indices.getDimSize(index));
  return success();
}

/// (C4): windows no larger than the input; the other dimensions those of the indices.
LogicalResult verifyUpdates(const Reporter &reporter, ScatterDimensionNumbersAttr numbers,
                            RankedTensorType input, RankedTensorType indices, RankedTensorType updates) {
  ArrayRef<int64_t> window = numbers.getUpdateWindowDims();
  SmallVector<int64_t> batch = batchSizes(indices, numbers.getIndexVectorDim());
  int64_t rank = updates.getRank(), expected = window.size() + batch.size();
  if (rank != expected)
    return reporter.violation("C4", "rank of the updates: got ", rank, ", expected ", expected);
  if (failed(reporter.unique("C7", "update_window_dims", window)) ||
      failed(reporter.sorted("C7", "update_window_dims", window)) ||
      failed(reporter.inRange("C8", "update_window_dims", window, rank)))
    return failure();
  SmallVector<int64_t> windowSizes;
  for (auto [index, size] : llvm::enumerate(input.getShape()))
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), static_cast<int64_t>(index)) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), static_cast<int64_t>(index)))
      windowSizes.push_back(size);
  auto nextWindow = windowSizes.begin();
  auto nextBatch = batch.begin();
  for (int64_t dimension = 0; dimension < rank; ++dimension) {
    int64_t size = updates.getDimSize(dimension);
    bool isWindow = llvm::is_contained(window, dimension);
    int64_t bound = isWindow ? *nextWindow++ : *nextBatch++;
    if (isKnown(size) && isKnown(bound) && (isWindow ? size > bound : size != bound))
      return reporter.violation("C4", "size of updates dimension ", dimension, ": got ", size, ", expected ",
                                isWindow ? "at most " : "", bound);
  }
  return success();
}

} // namespace

LogicalResult verifyScatter(ScatterOp op) {
  Reporter reporter(op);
  if (op.getInputs().empty())
    return reporter.violation("C5", "no inputs: expected at least one");
  if (failed(verifySameShapes(reporter, "C1", "inputs", op.getInputs())) ||
      failed(verifySameShapes(reporter, "C3", "updates", op.getUpdates())))
    return failure();
  for (auto [input, update] : llvm::zip(op.getInputs(), op.getUpdates()))
    if (elementType(input.getType()) != elementType(update.getType()))
      return reporter.violation("C6", "element types of an input and its updates differ: got ",
                                input.getType(), " and ", update.getType());
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  auto input = cast<RankedTensorType>(op.getInputs().front().getType());
  auto updates = cast<RankedTensorType>(op.getUpdates().front().getType());
  RankedTensorType indices = op.getScatterIndices().getType();
  if (failed(verifyInputDims(reporter, numbers, input.getRank())) ||
      failed(verifyIndexDims(reporter, numbers, input, indices)) ||
      failed(verifyUpdates(reporter, numbers, input, indices, updates)))
    return failure();
  return verifyReducer(reporter, "C23", op.getUpdateComputation(), op.getInputs());
}

} // namespace torchere::stablehlo
