// Communication among processes: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/bounds.h"
#include "stablehlo/process_groups.h"
#include "stablehlo/region.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/collective.cpp.inc"

namespace torchere::stablehlo {

void addCollectiveOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/collective.cpp.inc"
      >();
}

namespace {

/// `whole` is some number of tensors of type `part`, concatenated along `dimension`. The number is not
/// compared with replica_groups: published artifacts have a result twice as large for groups of one.
LogicalResult verifyParts(const Reporter &reporter, StringRef constraint, int64_t dimension,
                          RankedTensorType part, RankedTensorType whole) {
  auto fail = [&](const Twine &what) {
    return reporter.violation(constraint, what, ": ", whole, " is not made of ", part, " along dimension ",
                              dimension);
  };
  if (part.getRank() != whole.getRank())
    return fail("ranks differ");
  for (auto [index, piece, size] : llvm::enumerate(part.getShape(), whole.getShape())) {
    if (static_cast<int64_t>(index) != dimension) {
      if (!mayEqual(piece, size))
        return fail("shapes differ in dimension " + Twine(index));
      continue;
    }
    if (isKnown(piece) && isKnown(size) && (piece == 0 ? size != 0 : size % piece != 0))
      return fail("sizes do not divide");
  }
  return success();
}

/// The operands that are communicated: all but the last, when that one says which processes are the roots.
template <class Values> Values withoutRoots(Values operands, bool hasRoots) {
  return hasRoots && !operands.empty() ? Values(operands.drop_back()) : operands;
}

/// The roots of has_dynamic_root: an i32 for each operand before them.
LogicalResult verifyRoots(const Reporter &reporter, TypeRange operands, bool hasRoots) {
  if (!hasRoots)
    return operands.empty() ? reporter.violation("", "no operands: expected at least one") : success();
  if (operands.size() < 2)
    return reporter.violation("", "has_dynamic_root needs operands, then their roots: got ", operands.size(),
                              " in all");
  auto roots = cast<RankedTensorType>(operands.back());
  int64_t count = operands.size() - 1;
  if (roots.getRank() == 1 && roots.getElementType().isSignlessInteger(32) &&
      mayEqual(roots.getDimSize(0), count))
    return success();
  return reporter.violation("", "roots of has_dynamic_root: got ", roots, ", expected tensor<", count,
                            "xi32>");
}

/// Reductions over processes return each operand, with the element type that the computation returns.
LogicalResult inferReduced(ValueRange operands, RegionRange regions, SmallVectorImpl<Type> &types) {
  SmallVector<Type> elements = returnedElementTypes(regions);
  for (Type type : operands.getTypes()) {
    auto operand = cast<RankedTensorType>(type);
    types.push_back(elements.size() == 1 ? operand.clone(elements.front()) : operand);
  }
  return success();
}

/// (C1) to (C5) of all_reduce, which collective_reduce shares.
template <class Op> LogicalResult verifyReduction(Op op, ValueRange operands) {
  Reporter reporter(op);
  ReplicaGroups groups{op.getReplicaGroups(), /*isPadded=*/true};
  if (failed(groups.verify(reporter, "C1", "C3")) || failed(verifyMesh(op, op.getReplicaGroups())) ||
      failed(verifyGlobalDeviceIds(reporter, "C4", op.getChannelHandleAttr(), op.getUseGlobalDeviceIds())))
    return failure();
  for (Value operand : operands)
    if (failed(verifyReducer(reporter, "C5", op.getComputation(), operand)))
      return failure();
  return success();
}

} // namespace

//===- all_gather ---------------------------------------------------------===//

LogicalResult AllGatherOp::verify() {
  Reporter reporter(*this);
  ReplicaGroups groups{getReplicaGroups()};
  // (C5) requires a channel for global ids, as for reductions. Upstream accepts them without one.
  int64_t channel = getUseGlobalDeviceIds() && getChannelHandle() ? getChannelHandle()->getHandle() : 0;
  if (failed(groups.verify(reporter, "C2", "C4")) || failed(verifyMesh(*this, getReplicaGroups())) ||
      failed(reporter.atLeast("C5", "channel id", channel, 0)) ||
      failed(reporter.size("C6", "results", getNumResults(), getNumOperands())))
    return failure();
  int64_t dimension = getAllGatherDim();
  for (auto [from, to] : llvm::zip(getOperandTypes(), getResultTypes())) {
    auto operand = cast<RankedTensorType>(from), result = cast<RankedTensorType>(to);
    if (failed(reporter.inRange("C1", "all_gather_dim", dimension, operand.getRank())))
      return failure();
    if (operand.getElementType() != result.getElementType())
      return reporter.violation("C6", "element types of operand and result differ: got ",
                                operand.getElementType(), " and ", result.getElementType());
    if (failed(verifyParts(reporter, "C6", dimension, operand, result)))
      return failure();
  }
  return success();
}

//===- all_reduce ---------------------------------------------------------===//

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferReduced(adaptor.getOperands(), adaptor.getRegions(), types);
}

LogicalResult AllReduceOp::verify() {
  return verifyReduction(*this, getOperands());
}

//===- collective_reduce --------------------------------------------------===//

LogicalResult CollectiveReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &types) {
  ValueRange operands = adaptor.getOperands();
  return inferReduced(withoutRoots(operands, adaptor.getHasDynamicRoot()), adaptor.getRegions(), types);
}

LogicalResult CollectiveReduceOp::verify() {
  if (failed(verifyRoots(Reporter(*this), getOperandTypes(), getHasDynamicRoot())))
    return failure();
  return verifyReduction(*this, withoutRoots(ValueRange(getOperands()), getHasDynamicRoot()));
}

//===- all_to_all ---------------------------------------------------------===//

LogicalResult AllToAllOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  int64_t split = adaptor.getSplitDimension(), concat = adaptor.getConcatDimension();
  int64_t count = adaptor.getSplitCount();
  ReplicaGroups groups{adaptor.getReplicaGroups()};
  if (failed(reporter.atLeast("C4", "split_count", count, 1)) ||
      failed(groups.verify(reporter, "C5", "C7")) ||
      failed(reporter.size("C8", "group of replica_groups", groups.groupSize().value_or(count), count)))
    return failure();
  for (Type type : adaptor.getOperands().getTypes()) {
    auto operand = cast<RankedTensorType>(type);
    if (failed(reporter.inRange("C1", "split_dimension", split, operand.getRank())) ||
        failed(reporter.inRange("C3", "concat_dimension", concat, operand.getRank())))
      return failure();
    SmallVector<int64_t> shape(operand.getShape());
    if (isKnown(shape[split])) {
      if (shape[split] % count != 0)
        return reporter.violation("C2", "dimension ", split, " of size ", shape[split],
                                  " cannot be split into ", count, " parts");
      shape[split] /= count;
    }
    if (isKnown(shape[concat]) && llvm::MulOverflow(shape[concat], count, shape[concat]))
      return reporter.violation("C9", "result dimension ", concat, " would be too large");
    types.push_back(withShape(operand, shape));
  }
  return success();
}

//===- collective_broadcast, collective_permute ---------------------------===//

LogicalResult CollectiveBroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                      SmallVectorImpl<Type> &types) {
  TypeRange operands = adaptor.getOperands().getTypes();
  llvm::append_range(types, withoutRoots(operands, adaptor.getHasDynamicRoot()));
  return success();
}

LogicalResult CollectiveBroadcastOp::verify() {
  Reporter reporter(*this);
  if (failed(verifyRoots(reporter, getOperandTypes(), getHasDynamicRoot())) ||
      failed(verifyMesh(*this, getReplicaGroups())))
    return failure();
  return ReplicaGroups{getReplicaGroups()}.verifyPartial(reporter, "C1", "C2");
}

LogicalResult CollectivePermuteOp::verify() {
  return verifySourceTargetPairs(Reporter(*this), getSourceTargetPairs());
}

//===- reduce_scatter -----------------------------------------------------===//

LogicalResult ReduceScatterOp::verify() {
  Reporter reporter(*this);
  ReplicaGroups groups{getReplicaGroups()};
  auto operand = getOperand().getType(), result = getResult().getType();
  int64_t dimension = getScatterDimension();
  if (failed(reporter.inRange("C2", "scatter_dimension", dimension, operand.getRank())) ||
      failed(groups.verify(reporter, "C3", "C5")) || failed(verifyMesh(*this, getReplicaGroups())) ||
      failed(verifyGlobalDeviceIds(reporter, "C6", getChannelHandleAttr(), getUseGlobalDeviceIds())) ||
      failed(verifyReducer(reporter, "C7", getComputation(), getOperand())))
    return failure();
  Type element = elementType(returnedTypes(getComputation()).front());
  if (result.getElementType() != element)
    return reporter.violation("C9", "result's element type is ", result.getElementType(),
                              ", expected the computation's ", element);
  return verifyParts(reporter, "C8", dimension, result, operand);
}

//===- partition_id, replica_id -------------------------------------------===//

static LogicalResult inferProcessId(MLIRContext *context, SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

LogicalResult PartitionIdOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                              SmallVectorImpl<Type> &types) {
  return inferProcessId(context, types);
}

LogicalResult ReplicaIdOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferProcessId(context, types);
}

} // namespace torchere::stablehlo
