// Ops that read or replace parts of a tensor: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/bounds.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"
#include "stablehlo/gather_shape.h"
#include "stablehlo/region.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/indexing.cpp.inc"

namespace torchere::stablehlo {

void addIndexingOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/indexing.cpp.inc"
      >();
}

//===- slice --------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> starts = adaptor.getStartIndices(), limits = adaptor.getLimitIndices();
  ArrayRef<int64_t> strides = adaptor.getStrides();
  if (failed(reporter.size("C2", "start_indices", starts.size(), operand.getRank())) ||
      failed(reporter.size("C2", "limit_indices", limits.size(), operand.getRank())) ||
      failed(reporter.size("C2", "strides", strides.size(), operand.getRank())) ||
      failed(reporter.atLeast("C4", "strides", strides, 1)))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [index, size] : llvm::enumerate(operand.getShape())) {
    int64_t start = starts[index], limit = limits[index];
    if (start < 0 || start > limit || (isKnown(size) && limit > size))
      return reporter.violation(
          "C3", "range of dimension ", index, ": got ", start, ":", limit,
          ", expected 0 <= start <= limit <= ", isKnown(size) ? std::to_string(size) : "?");
    shape.push_back(
        llvm::divideCeil(static_cast<uint64_t>(limit - start), static_cast<uint64_t>(strides[index])));
  }
  types.push_back(withShape(operand, shape));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool isWhole = getOperand().getType() == getType() && getType().hasStaticShape() &&
                 llvm::equal(getLimitIndices(), getType().getShape()) &&
                 llvm::all_of(getStrides(), [](int64_t stride) { return stride == 1; });
  return isWhole ? getOperand() : OpFoldResult();
}

//===- dynamic_slice, dynamic_update_slice --------------------------------===//

namespace {

LogicalResult verifyStartIndices(const Reporter &reporter, StringRef count, StringRef sameType,
                                 ValueRange indices, int64_t rank) {
  if (failed(reporter.size(count, "start_indices", indices.size(), rank)))
    return failure();
  for (Value index : indices)
    if (index.getType() != indices.front().getType())
      return reporter.violation(sameType, "types of start_indices differ: got ", indices.front().getType(),
                                " and ", index.getType());
  return success();
}

} // namespace

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (failed(verifyStartIndices(reporter, "C2", "C3", adaptor.getStartIndices(), operand.getRank())) ||
      failed(reporter.size("C2", "slice_sizes", sizes.size(), operand.getRank())))
    return failure();
  for (auto [index, size] : llvm::enumerate(operand.getShape()))
    if (sizes[index] < 0 || (isKnown(size) && sizes[index] > size))
      return reporter.violation("C4", "slice size of dimension ", index, ": got ", sizes[index],
                                ", expected it in [0, ", isKnown(size) ? std::to_string(size) : "?", "]");
  types.push_back(withShape(operand, sizes));
  return success();
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                     Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto update = cast<RankedTensorType>(adaptor.getUpdate().getType());
  if (operand.getElementType() != update.getElementType())
    return reporter.violation("C2", "element types of operand and update differ: got ",
                              operand.getElementType(), " and ", update.getElementType());
  if (operand.getRank() != update.getRank())
    return reporter.violation("C3", "ranks of operand and update differ: got ", operand.getRank(), " and ",
                              update.getRank());
  if (failed(verifyStartIndices(reporter, "C4", "C5", adaptor.getStartIndices(), operand.getRank())))
    return failure();
  for (auto [index, size] : llvm::enumerate(operand.getShape())) {
    int64_t part = update.getDimSize(index);
    if (isKnown(size) && isKnown(part) && part > size)
      return reporter.violation("C6", "size of update dimension ", index, ": got ", part,
                                ", expected at most ", size);
  }
  types.push_back(operand);
  return success();
}

//===- gather -------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  GatherShape gather{cast<RankedTensorType>(adaptor.getOperand().getType()),
                     cast<RankedTensorType>(adaptor.getStartIndices().getType()),
                     adaptor.getDimensionNumbers(), SmallVector<int64_t>(adaptor.getSliceSizes())};
  FailureOr<RankedTensorType> type = inferGather(Reporter(location, getOperationName()), gather);
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

//===- scatter ------------------------------------------------------------===//

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  // (C24), (C25): the inputs' shapes; the elements are what the computation returns.
  SmallVector<Type> elements = returnedElementTypes(adaptor.getRegions());
  for (auto [index, input] : llvm::enumerate(adaptor.getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    types.push_back(index < elements.size() ? type.clone(elements[index]) : type);
  }
  return success();
}

LogicalResult ScatterOp::verify() {
  return verifyScatter(*this);
}

} // namespace torchere::stablehlo
