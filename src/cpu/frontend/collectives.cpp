// Implements lowerCollectives.
#include "cpu/frontend/collectives.h"

#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/dialect.h"
#include "stablehlo/mesh_axes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

using stablehlo::ConvertOp;
using Members = std::vector<int64_t>;

/// How ids in groups refer to processes.
enum class Grouping : uint8_t { Replicas, Partitions, ReplicasOfAllPartitions, Flattened };

/// The lowering of one function for one process. All values are static tensors.
class Lowering {
public:
  Lowering(func::FuncOp function, interpreter::ProcessCounts counts, int64_t process)
      : counts(counts), process(process), location(function.getLoc()) {}
  Status lower(Operation *op);

private:
  Grouping groupingOf(Operation *op) const;
  int64_t idCount(Grouping grouping) const;
  Result<Members> processesOf(Grouping grouping, ArrayRef<int64_t> ids) const;
  Result<SmallVector<SmallVector<int64_t>>> rowsOf(Operation *op, Grouping grouping) const;
  Result<Members> groupOf(Operation *op, bool mayBeOutside = false) const;
  Result<Value> lowerOperand(Operation *op, Value operand);
  Result<Value> lowerAllToAll(stablehlo::AllToAllOp op, Value operand);
  Result<Value> lowerBroadcast(stablehlo::CollectiveBroadcastOp op, Value operand);
  Result<Value> lowerPermute(stablehlo::CollectivePermuteOp op, Value operand);
  Result<Value> lowerReduceScatter(stablehlo::ReduceScatterOp op);
  Result<Value> combine(Operation *op, Value stack);
  Result<Value> applyComputation(Region &computation, Value left, Value right);
  Value exchange(Value operand, const Members &members, ArrayRef<int64_t> taken, ArrayRef<int64_t> starts,
                 ArrayRef<int64_t> sizes);
  Value exchangeWhole(Value operand, const Members &members);
  Value memberOf(Value stack, int64_t place);
  Value joined(Value stack, int64_t dimension);
  Value zerosLike(Value value);
  template <class Op, class... Parts> Value make(Parts &&...parts) {
    return Op::create(*builder, location, std::forward<Parts>(parts)...);
  }
  int64_t placeIn(const Members &members) const { return llvm::find(members, process) - members.begin(); }

  interpreter::ProcessCounts counts;
  int64_t process;
  int64_t number = 0; ///< of the exchange, also where this process has no part in it
  OpBuilder *builder = nullptr;
  Location location; ///< of the op that is lowered
};

RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Grouping Lowering::groupingOf(Operation *op) const {
  auto channel = op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle");
  if (!channel || channel.getHandle() <= 0)
    return Grouping::Replicas;
  if (isa<stablehlo::AllToAllOp, stablehlo::CollectiveBroadcastOp, stablehlo::CollectivePermuteOp>(op))
    return Grouping::Partitions;
  return op->getAttr("use_global_device_ids") ? Grouping::Flattened : Grouping::ReplicasOfAllPartitions;
}

int64_t Lowering::idCount(Grouping grouping) const {
  switch (grouping) {
  case Grouping::Partitions:
    return counts.partitions;
  case Grouping::Flattened:
    return counts.replicas * counts.partitions;
  case Grouping::Replicas:
  case Grouping::ReplicasOfAllPartitions:
    break;
  }
  return counts.replicas;
}

/// The processes of one row of ids, from the point of view of this one.
Result<Members> Lowering::processesOf(Grouping grouping, ArrayRef<int64_t> ids) const {
  int64_t replica = process / counts.partitions, partition = process % counts.partitions;
  for (int64_t id : ids)
    if (id < 0 || id >= idCount(grouping))
      return invalidArgument("no process {}: the program runs on {} replicas of {} partitions", id,
                             counts.replicas, counts.partitions);
  Members members;
  for (int64_t id : ids)
    if (grouping == Grouping::Replicas)
      members.push_back(id * counts.partitions + partition);
    else if (grouping == Grouping::Partitions)
      members.push_back(replica * counts.partitions + id);
    else if (grouping == Grouping::Flattened)
      members.push_back(id);
  for (int64_t other = 0; grouping == Grouping::ReplicasOfAllPartitions && other < counts.partitions; ++other)
    for (int64_t id : ids)
      members.push_back(id * counts.partitions + other);
  return members;
}

/// Without any ids, all processes form one group. -1 pads rows.
Result<SmallVector<SmallVector<int64_t>>> Lowering::rowsOf(Operation *op, Grouping grouping) const {
  Attribute attribute = op->getAttr("replica_groups");
  if (auto axes = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute)) {
    stablehlo::DiagnosticText diagnostics(*op->getContext());
    SymbolTableCollection symbols;
    FailureOr<DenseIntElementsAttr> listed = stablehlo::listGroups(op, axes, symbols);
    if (failed(listed))
      return invalidArgument("{}", diagnostics.take());
    attribute = *listed;
  }
  auto ids = cast<DenseIntElementsAttr>(attribute);
  SmallVector<SmallVector<int64_t>> rows;
  if (ids.empty()) {
    rows.emplace_back(llvm::to_vector(llvm::seq(idCount(grouping))));
    return rows;
  }
  if (ids.getType().getRank() != 2)
    return fail(ErrorCode::Unimplemented, "groups that are no table");
  int64_t length = ids.getType().getShape()[1], position = 0;
  for (const APInt &id : ids.getValues<APInt>()) {
    if (position++ % length == 0)
      rows.emplace_back();
    if (!id.isAllOnes())
      rows.back().push_back(id.getSExtValue());
  }
  return rows;
}

Result<Members> Lowering::groupOf(Operation *op, bool mayBeOutside) const {
  TORCHERE_ASSIGN(auto rows, rowsOf(op, groupingOf(op)));
  for (ArrayRef<int64_t> row : rows) {
    TORCHERE_ASSIGN(Members members, processesOf(groupingOf(op), row));
    if (llvm::is_contained(members, process))
      return members;
  }
  if (mayBeOutside)
    return Members();
  return invalidArgument("replica_groups does not have replica {} of partition {}",
                         process / counts.partitions, process % counts.partitions);
}

/// The parts [starts, starts + sizes) of what the members at the places `taken` give, stacked.
Value Lowering::exchange(Value operand, const Members &members, ArrayRef<int64_t> taken,
                         ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape{static_cast<int64_t>(taken.size())};
  llvm::append_range(shape, sizes);
  Type type = RankedTensorType::get(shape, tensorOf(operand).getElementType());
  NamedAttribute attributes[] = {
      builder->getNamedAttr("number", builder->getI64IntegerAttr(number)),
      builder->getNamedAttr("self", builder->getI64IntegerAttr(process)),
      builder->getNamedAttr("members", builder->getDenseI64ArrayAttr(members)),
      builder->getNamedAttr("taken", builder->getDenseI64ArrayAttr(taken)),
      builder->getNamedAttr("starts", builder->getDenseI64ArrayAttr(starts)),
  };
  auto call = createKernelCall(*builder, location, "exchange", type, operand, attributes);
  call->setAttr("has_side_effect", builder->getBoolAttr(true)); // the others wait for it
  return call->getResult(0);
}

Value Lowering::exchangeWhole(Value operand, const Members &members) {
  SmallVector<int64_t> starts(tensorOf(operand).getRank()),
      all(llvm::to_vector(llvm::seq(static_cast<int64_t>(members.size()))));
  return exchange(operand, members, all, starts, tensorOf(operand).getShape());
}

Value Lowering::memberOf(Value stack, int64_t place) {
  RankedTensorType type = tensorOf(stack);
  SmallVector<int64_t> starts(type.getRank()), limits(type.getShape()), strides(type.getRank(), 1);
  starts[0] = place;
  limits[0] = place + 1;
  Value one = make<stablehlo::SliceOp>(stack, starts, limits, strides);
  return make<stablehlo::ReshapeOp>(
      RankedTensorType::get(type.getShape().drop_front(), type.getElementType()), one);
}

/// The members' parts along a dimension, one after the other.
Value Lowering::joined(Value stack, int64_t dimension) {
  SmallVector<Value> parts;
  SmallVector<int64_t> shape(tensorOf(stack).getShape().drop_front());
  int64_t count = tensorOf(stack).getDimSize(0);
  for (int64_t place = 0; place < count; ++place)
    parts.push_back(memberOf(stack, place));
  shape[static_cast<size_t>(dimension)] *= count;
  return make<stablehlo::ConcatenateOp>(RankedTensorType::get(shape, tensorOf(stack).getElementType()), parts,
                                        dimension);
}

Value Lowering::zerosLike(Value value) {
  RankedTensorType type = tensorOf(value);
  auto zero = DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                                     builder->getZeroAttr(type.getElementType()));
  return make<stablehlo::BroadcastInDimOp>(type, make<stablehlo::ConstantOp>(zero),
                                           builder->getDenseI64ArrayAttr({}));
}

/// The computation of scalars, on all elements.
Result<Value> Lowering::applyComputation(Region &computation, Value left, Value right) {
  IRMapping mapping;
  mapping.map(computation.getArgument(0), left);
  mapping.map(computation.getArgument(1), right);
  ArrayRef<int64_t> shape = tensorOf(left).getShape();
  for (Operation &op : computation.front().without_terminator()) {
    bool isConstant = isa<stablehlo::ConstantOp>(op);
    if (op.getNumResults() != 1 || (!isConstant && !isElementwise(&op)))
      return fail(ErrorCode::Unimplemented, "a computation with {}", op.getName().getStringRef().str());
    Operation *whole = builder->clone(op, mapping);
    Value made = whole->getResult(0);
    Type type = RankedTensorType::get(shape, tensorOf(made).getElementType());
    if (isConstant)
      made = make<stablehlo::BroadcastInDimOp>(type, made, builder->getDenseI64ArrayAttr({}));
    else
      made.setType(type);
    mapping.map(op.getResult(0), made);
  }
  return mapping.lookupOrDefault(computation.front().getTerminator()->getOperand(0));
}

/// The members of a stack combined, in order, beginning with the first.
Result<Value> Lowering::combine(Operation *op, Value stack) {
  Region &computation = op->getRegion(0);
  Type element = cast<RankedTensorType>(computation.getArgument(0).getType()).getElementType();
  RankedTensorType type = RankedTensorType::get(tensorOf(stack).getShape().drop_front(), element);
  Value sum;
  for (int64_t place = 0; place < tensorOf(stack).getDimSize(0); ++place) {
    Value member = memberOf(stack, place);
    if (member.getType() != type)
      member = make<ConvertOp>(type, member);
    if (!sum) {
      sum = member;
      continue;
    }
    TORCHERE_ASSIGN(sum, applyComputation(computation, sum, member));
  }
  return sum;
}

Result<Value> Lowering::lowerReduceScatter(stablehlo::ReduceScatterOp op) {
  TORCHERE_ASSIGN(Members members, groupOf(op));
  Value operand = op.getOperand();
  auto dimension = static_cast<size_t>(op.getScatterDimension());
  SmallVector<int64_t> starts(tensorOf(operand).getRank()), sizes(tensorOf(operand).getShape());
  auto parts = static_cast<int64_t>(members.size());
  if (sizes[dimension] % parts != 0)
    return invalidArgument("dimension {} of size {} cannot be split among {} processes", dimension,
                           sizes[dimension], parts);
  sizes[dimension] /= parts;
  starts[dimension] = placeIn(members) * sizes[dimension];
  return combine(op, exchange(operand, members, llvm::to_vector(llvm::seq(parts)), starts, sizes));
}

Result<Value> Lowering::lowerAllToAll(stablehlo::AllToAllOp op, Value operand) {
  TORCHERE_ASSIGN(Members members, groupOf(op));
  auto split = static_cast<size_t>(op.getSplitDimension());
  auto count = static_cast<int64_t>(op.getSplitCount());
  if (count != static_cast<int64_t>(members.size()))
    return invalidArgument("split_count is {} for a group of {} processes", count, members.size());
  SmallVector<int64_t> starts(tensorOf(operand).getRank()), sizes(tensorOf(operand).getShape());
  sizes[split] /= count;
  starts[split] = placeIn(members) * sizes[split];
  Value stack = exchange(operand, members, llvm::to_vector(llvm::seq(count)), starts, sizes);
  return joined(stack, static_cast<int64_t>(op.getConcatDimension()));
}

/// A process that is in no group gets zeros.
Result<Value> Lowering::lowerBroadcast(stablehlo::CollectiveBroadcastOp op, Value operand) {
  TORCHERE_ASSIGN(Members members, groupOf(op, /*mayBeOutside=*/true));
  if (members.empty())
    return zerosLike(operand);
  SmallVector<int64_t> starts(tensorOf(operand).getRank());
  return memberOf(exchange(operand, members, {0}, starts, tensorOf(operand).getShape()), 0);
}

/// All processes that a pair names meet; one that nobody sends to gets zeros.
Result<Value> Lowering::lowerPermute(stablehlo::CollectivePermuteOp op, Value operand) {
  Members members;
  std::optional<int64_t> sender;
  auto ids = llvm::to_vector(llvm::map_range(op.getSourceTargetPairs().getValues<APInt>(),
                                             [](const APInt &id) { return id.getSExtValue(); }));
  for (size_t pair = 0; pair + 1 < ids.size(); pair += 2) {
    TORCHERE_ASSIGN(Members both, processesOf(groupingOf(op), ArrayRef(ids).slice(pair, 2)));
    if (both[1] == process)
      sender = both[0];
    for (int64_t member : both)
      if (!llvm::is_contained(members, member))
        members.push_back(member);
  }
  if (!llvm::is_contained(members, process))
    return zerosLike(operand);
  SmallVector<int64_t> starts(tensorOf(operand).getRank()), taken;
  if (sender)
    taken.push_back(llvm::find(members, *sender) - members.begin());
  Value stack = exchange(operand, members, taken, starts, tensorOf(operand).getShape());
  return sender ? memberOf(stack, 0) : zerosLike(operand);
}

Result<Value> Lowering::lowerOperand(Operation *op, Value operand) {
  if (auto all = dyn_cast<stablehlo::AllToAllOp>(op))
    return lowerAllToAll(all, operand);
  if (auto one = dyn_cast<stablehlo::CollectiveBroadcastOp>(op))
    return lowerBroadcast(one, operand);
  if (auto permute = dyn_cast<stablehlo::CollectivePermuteOp>(op))
    return lowerPermute(permute, operand);
  if (auto scatter = dyn_cast<stablehlo::ReduceScatterOp>(op))
    return lowerReduceScatter(scatter);
  TORCHERE_ASSIGN(Members members, groupOf(op));
  Value stack = exchangeWhole(operand, members);
  if (auto gather = dyn_cast<stablehlo::AllGatherOp>(op))
    return joined(stack, static_cast<int64_t>(gather.getAllGatherDim()));
  if (op->getNumRegions() == 1) {
    TORCHERE_ASSIGN(Value sum, combine(op, stack));
    bool isRoot = !isa<stablehlo::CollectiveReduceOp>(op) || placeIn(members) == 0;
    return isRoot ? sum : zerosLike(sum);
  }
  Value sum = memberOf(stack, 0); // cross-replica-sum
  for (int64_t place = 1; place < static_cast<int64_t>(members.size()); ++place)
    sum = make<stablehlo::AddOp>(sum, memberOf(stack, place));
  return sum;
}

Status Lowering::lower(Operation *op) {
  OpBuilder here(op);
  builder = &here;
  location = op->getLoc();
  if (isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(op)) {
    int64_t id = isa<stablehlo::ReplicaIdOp>(op) ? process / counts.partitions : process % counts.partitions;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    op->getResult(0).replaceAllUsesWith(
        make<stablehlo::ConstantOp>(DenseElementsAttr::get(type, APInt(32, static_cast<uint64_t>(id)))));
  } else {
    if (op->getAttr("has_dynamic_root"))
      return fail(ErrorCode::Unimplemented, "a root that the program computes");
    for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
      ++number;
      TORCHERE_ASSIGN(Value made, lowerOperand(op, operand));
      if (made.getType() != result.getType())
        return fail(ErrorCode::Unimplemented, "a result of another type");
      result.replaceAllUsesWith(made);
    }
  }
  op->erase();
  return {};
}

} // namespace

Status lowerCollectives(func::FuncOp function, interpreter::ProcessCounts counts, int64_t process) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::AllGatherOp, stablehlo::AllReduceOp, stablehlo::AllToAllOp,
            stablehlo::CollectiveBroadcastOp, stablehlo::CollectiveReduceOp, stablehlo::CollectivePermuteOp,
            stablehlo::CrossReplicaSumOp, stablehlo::ReduceScatterOp, stablehlo::PartitionIdOp,
            stablehlo::ReplicaIdOp>(op))
      found.push_back(op);
  });
  Lowering lowering(function, counts, process);
  for (Operation *op : found) {
    Status status = lowering.lower(op);
    if (!status)
      return fail(status.error().code, "[{}] {}", op->getName().getStringRef().str(), status.error().message);
  }
  return {};
}

} // namespace torchere::cpu
