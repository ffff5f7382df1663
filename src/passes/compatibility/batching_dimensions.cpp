// Implements the expansion of batching dimensions: iotas along them are concatenated to the indices.
#include "passes/compatibility/expansion.h"

#include "stablehlo/dialect.h"

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

using Dimensions = SmallVector<int64_t>;

/// The element type of indices that can hold `size`: the given one, i32 or i64.
Type indexTypeFor(int64_t size, Type element) {
  auto fits = [&](Type type) {
    auto integer = cast<IntegerType>(type);
    unsigned bits = integer.getWidth() - !integer.isUnsigned();
    return bits >= 63 || size < (int64_t(1) << bits);
  };
  Builder builder(element.getContext());
  if (fits(element))
    return element;
  return fits(builder.getI32Type()) ? builder.getI32Type() : builder.getI64Type();
}

/// Whether iotas can be concatenated to the indices: static sizes, integer elements.
bool canExpand(Value indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  return type.hasStaticShape() && isa<IntegerType>(type.getElementType());
}

/// Concatenates iotas along the batching dimensions of the indices and the indices themselves, along the
/// index vector.
Value joinPositions(Value indices, ArrayRef<int64_t> batchingDimensions, int64_t indexVectorDimension,
                    OpBuilder &builder, Location location) {
  auto type = cast<RankedTensorType>(indices.getType());
  int64_t largest = 0;
  for (int64_t dimension : batchingDimensions)
    largest = std::max(largest, type.getDimSize(dimension));
  Type element = indexTypeFor(largest, type.getElementType());
  if (element != type.getElementType()) {
    type = RankedTensorType::get(type.getShape(), element);
    indices = ConvertOp::create(builder, location, type, indices);
  }
  Dimensions shape(type.getShape());
  if (indexVectorDimension == type.getRank()) { // the indices are scalars
    shape.push_back(1);
    indices = ReshapeOp::create(builder, location, type.clone(shape), indices);
  }
  int64_t length = shape[indexVectorDimension] + static_cast<int64_t>(batchingDimensions.size());
  shape[indexVectorDimension] = 1;
  SmallVector<Value> parts;
  for (int64_t dimension : batchingDimensions)
    parts.push_back(IotaOp::create(builder, location, type.clone(shape), dimension));
  parts.push_back(indices);
  shape[indexVectorDimension] = length;
  return ConcatenateOp::create(builder, location, type.clone(shape), parts, indexVectorDimension);
}

Dimensions join(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  Dimensions joined(first);
  llvm::append_range(joined, second);
  return joined;
}

Dimensions merge(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  Dimensions merged = join(first, second);
  llvm::sort(merged);
  return merged;
}

/// Sorted indices stay sorted when the positions before them ascend in the same order.
bool staySorted(ArrayRef<int64_t> batchingDimensions, ArrayRef<int64_t> map) {
  return llvm::is_sorted(batchingDimensions) && llvm::is_sorted(map);
}

/// For a gather or a dynamic_gather.
template <class Gather> void expandGather(Gather op) {
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> batching = numbers.getStartIndicesBatchingDims();
  if (numbers.getOperandBatchingDims().empty() || !canExpand(op.getStartIndices()))
    return;
  OpBuilder builder(op);
  Dimensions map = join(numbers.getOperandBatchingDims(), numbers.getStartIndexMap());
  Value indices =
      joinPositions(op.getStartIndices(), batching, numbers.getIndexVectorDim(), builder, op.getLoc());
  op.getStartIndicesMutable().assign(indices);
  op.setIndicesAreSorted(op.getIndicesAreSorted() && staySorted(batching, map));
  op.setDimensionNumbersAttr(GatherDimensionNumbersAttr::get(
      op.getContext(), numbers.getOffsetDims(),
      merge(numbers.getOperandBatchingDims(), numbers.getCollapsedSliceDims()), {}, {}, map,
      numbers.getIndexVectorDim()));
}

void expandScatter(ScatterOp op) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> batching = numbers.getScatterIndicesBatchingDims();
  if (numbers.getInputBatchingDims().empty() || !canExpand(op.getScatterIndices()))
    return;
  OpBuilder builder(op);
  Dimensions map = join(numbers.getInputBatchingDims(), numbers.getScatterDimsToOperandDims());
  Value indices =
      joinPositions(op.getScatterIndices(), batching, numbers.getIndexVectorDim(), builder, op.getLoc());
  op.getScatterIndicesMutable().assign(indices);
  op.setIndicesAreSorted(op.getIndicesAreSorted() && staySorted(batching, map));
  op.setScatterDimensionNumbersAttr(
      ScatterDimensionNumbersAttr::get(op.getContext(), numbers.getUpdateWindowDims(),
                                       merge(numbers.getInputBatchingDims(), numbers.getInsertedWindowDims()),
                                       {}, {}, map, numbers.getIndexVectorDim()));
}

} // namespace

void expandBatchingDimensions(Operation *op) {
  if (auto gather = dyn_cast<GatherOp>(op))
    expandGather(gather);
  else if (auto gather = dyn_cast<DynamicGatherOp>(op))
    expandGather(gather);
  else if (auto scatter = dyn_cast<ScatterOp>(op))
    expandScatter(scatter);
}

} // namespace torchere::passes
