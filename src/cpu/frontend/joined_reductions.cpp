// Plans reductions: several of one shape, with the elementwise ops that they read, become one step.
#include "cpu/frontend/joined_reductions.h"

#include "cpu/execute/joined_step.h"
#include "cpu/execute/reduce_step.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/group.h"
#include "cpu/frontend/region_body.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>

using namespace mlir;

namespace torchere::cpu {

std::optional<Reduction> reductionOf(Region &body) {
  StringRef name = joinOf(body);
  if (name.empty() || !hasVectorType(body.getArgument(0)))
    return std::nullopt;
  ElementType type = elementTypeOf(body.getArgument(0));
  auto reduction = llvm::StringSwitch<std::optional<Reduction>>(name)
                       .Case("stablehlo.add", isBool(type) ? Reduction::Or : Reduction::Sum)
                       .Case("stablehlo.multiply", isBool(type) ? Reduction::And : Reduction::Product)
                       .Case("stablehlo.maximum", isBool(type) ? Reduction::Or : Reduction::Max)
                       .Case("stablehlo.minimum", isBool(type) ? Reduction::And : Reduction::Min)
                       .Case("stablehlo.and", Reduction::And)
                       .Case("stablehlo.or", Reduction::Or)
                       .Default(std::nullopt);
  return reduction;
}

bool reducesOwnTypes(Operation *op) {
  size_t count = op->getNumResults();
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != 2 * count)
    return false;
  for (size_t i = 0; i < count; ++i) {
    auto at = static_cast<unsigned>(i), initial = static_cast<unsigned>(count + i);
    std::optional<DType> type = dtypeOf(op->getResult(at));
    if (!type || type != dtypeOf(op->getOperand(at)) || type != dtypeOf(op->getOperand(initial)) ||
        type != dtypeOf(body.getArgument(at)) || type != dtypeOf(body.getArgument(initial)))
      return false;
  }
  return true;
}

bool joinsReductions(Operation *op) {
  return llvm::isa<stablehlo::ReduceOp>(op) && op->getNumResults() == 1 && reducesOwnTypes(op) &&
         shapeOf(op->getOperand(0)).size() <= kMaxRank && reductionOf(op->getRegion(0)).has_value();
}

/// Ops whose result costs less to compute again than to store and read.
static bool isCheap(Operation *op) {
  return isa<stablehlo::AbsOp, stablehlo::AddOp, stablehlo::AndOp, stablehlo::CompareOp, stablehlo::ConvertOp,
             stablehlo::MaxOp, stablehlo::MinOp, stablehlo::MulOp, stablehlo::NegOp, stablehlo::NotOp,
             stablehlo::OrOp, stablehlo::SelectOp, stablehlo::SubtractOp>(op);
}

bool isLittle(Operation *root, llvm::function_ref<bool(Operation *)> isMember) {
  constexpr size_t mostRepeated = 4;
  SmallVector<Operation *> ops{root};
  for (size_t next = 0; next < ops.size(); ++next) {
    if (!isCheap(ops[next]) || ops.size() > mostRepeated)
      return false;
    for (mlir::Value operand : ops[next]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && isMember(op) && !llvm::is_contained(ops, op))
        ops.push_back(op);
  }
  return true;
}

namespace {

constexpr int64_t mostIndices = 1 << 14;

/// What becomes of a group's members that others than its reductions need.
class SharedMembers {
public:
  SharedMembers(const Planner &planner, const Group &group, ArrayRef<Operation *> reductions) {
    auto isMember = [&](Operation *op) { return group.contains(op); };
    llvm::SmallPtrSet<Operation *, 8> own(reductions.begin(), reductions.end());
    for (Operation *op : llvm::reverse(group.members())) {
      auto isOther = [&](Operation *user) {
        return !group.contains(user) && !own.contains(user) && !planner.isComputed(user);
      };
      bool isShared = llvm::any_of(op->getUsers(), isOther);
      bool isOfElements = llvm::all_of(op->getUsers(), [&](Operation *user) {
        return !isOther(user) || (joinsGroups(user) && user->getBlock() == op->getBlock());
      });
      if (isShared && !(isOfElements && isLittle(op, isMember)))
        stored.push_back(op->getResult(0));
      else if (isShared || llvm::any_of(op->getUsers(), [&](Operation *user) { return isRepeated(user); }))
        repeated.insert(op);
    }
  }

  /// Whether the op waits as before, for those that compute it again.
  bool isRepeated(Operation *op) const { return repeated.contains(op); }
  SmallVector<mlir::Value> stored;

private:
  llvm::SmallPtrSet<Operation *, 8> repeated;
};

/// The dimensions and the shape that reductions of one step have in common.
bool isAlike(Operation *a, Operation *b) {
  return shapeOf(a->getOperand(0)) == shapeOf(b->getOperand(0)) &&
         integersOf(a, "dimensions") == integersOf(b, "dimensions") && a->getBlock() == b->getBlock();
}

/// What waits and is needed by the first of some reductions, or needs one of them.
class WaitingOrder {
public:
  WaitingOrder(const Planner &planner, Operation *first) : planner(planner) {
    SmallVector<Operation *> open{first};
    while (!open.empty())
      for (mlir::Value operand : open.pop_back_val()->getOperands())
        if (Operation *source = operand.getDefiningOp();
            planner.isPending(source) && ordered.insert(source).second)
          open.push_back(source);
    addUsers(first);
  }
  void addUsers(Operation *reduction) {
    SmallVector<Operation *> open{reduction};
    while (!open.empty())
      for (Operation *user : open.pop_back_val()->getUsers())
        if (planner.isPending(user) && ordered.insert(user).second)
          open.push_back(user);
  }
  bool isOrdered(Operation *op) const { return ordered.contains(op); }

private:
  const Planner &planner;
  llvm::SmallPtrSet<Operation *, 32> ordered;
};

/// What a reduction is computed from by ops of its operand's shape that wait, and whether others are.
class CommonInputs {
public:
  CommonInputs(const Planner &planner, Operation *first) : planner(planner) {
    SmallVector<mlir::Value> open{first->getOperand(0)};
    while (!open.empty())
      if (mlir::Value value = open.pop_back_val(); own.insert(value).second)
        addOperands(value, first, open);
  }
  bool areReadBy(Operation *reduction) {
    SmallVector<mlir::Value> open{reduction->getOperand(0)}, seen;
    while (!open.empty()) {
      mlir::Value value = open.pop_back_val();
      if (own.contains(value) && cast<RankedTensorType>(value.getType()).getNumElements() > 1) {
        for (mlir::Value each : seen) // some of which may be read by others on the way to this one
          foreign.erase(each);
        return true;
      }
      if (!foreign.insert(value).second)
        continue;
      seen.push_back(value);
      addOperands(value, reduction, open);
    }
    return false;
  }

private:
  void addOperands(mlir::Value value, Operation *reduction, SmallVectorImpl<mlir::Value> &open) const {
    Operation *source = value.getDefiningOp();
    if (planner.isPending(source) && shapeOf(value) == shapeOf(reduction->getOperand(0)))
      llvm::append_range(open, source->getOperands());
  }

  const Planner &planner;
  llvm::DenseSet<mlir::Value> own;
  llvm::DenseSet<mlir::Value> foreign; ///< computed from none of them
};

} // namespace

/// The first, and those that wait and are of the same shape and dimensions, and read something that it reads.
SmallVector<Operation *> Planner::reductionsBeside(Operation *first) const {
  SmallVector<Operation *> found{first}, alike;
  for (Operation *op : pending.inOrder())
    if (op != first && joinsReductions(op) && isAlike(op, first))
      alike.push_back(op);
  if (alike.empty())
    return found;
  CommonInputs inputs(*this, first);
  WaitingOrder order(*this, first);
  for (Operation *op : alike)
    if (!order.isOrdered(op) && inputs.areReadBy(op)) {
      found.push_back(op);
      order.addUsers(op);
    }
  return found;
}

Status Planner::planReduction(Operation *op) {
  TORCHERE_ASSIGN(View input, view(op->getOperand(0)));
  TORCHERE_ASSIGN(View initial, view(op->getOperand(1)));
  View result = allocate(op->getResult(0));
  TORCHERE_ASSIGN(std::unique_ptr<const Step> step,
                  ReduceStep::create(*reductionOf(op->getRegion(0)), *dtypeOf(op->getResult(0)), input,
                                     initial, result, integersOf(op, "dimensions")));
  std::vector<View> reads{input, initial};
  emit(std::move(step), reads, {&result, 1});
  return {};
}

Status Planner::planReductions(Operation *first) {
  Operation *outer = std::exchange(current, first);
  llvm::scope_exit restore([&] { current = outer; });
  SmallVector<Operation *> reductions = reductionsBeside(first);
  TORCHERE_ASSIGN(bool areRows, planRows(reductions));
  if (areRows)
    return {};
  SmallVector<mlir::Value> roots;
  for (Operation *op : reductions)
    roots.push_back(op->getOperand(0));
  Group group(*this, roots, /*readsIndices=*/true);
  TORCHERE_ASSIGN(bool isSettled, settle(group.waitingInputs(roots)));
  if (!isSettled)
    return isPending(first) ? planReductions(first) : Status();
  for (Operation *op : reductions)
    pending.remove(op);
  bool isPlain = (reductions.size() == 1 && group.members().empty()) ||
                 shapeOf(roots.front()).size() >= kVectorRank || elementCount(shapeOf(roots.front())) == 0 ||
                 llvm::any_of(group.members(), hasComplex);
  TORCHERE_ASSIGN(bool isPlanned, isPlain ? Result<bool>(false) : planJoined(group, reductions, roots));
  if (!isPlanned)
    for (Operation *op : reductions)
      TORCHERE_TRY(planReduction(op));
  computed.insert(reductions.begin(), reductions.end());
  return {};
}

/// One step for all. False if that is not possible; then the members are planned, or wait.
Result<bool> Planner::planJoined(Group &group, ArrayRef<Operation *> reductions,
                                 ArrayRef<mlir::Value> roots) {
  SharedMembers shared(*this, group, reductions);
  for (Operation *op : group.members())
    if (!shared.isRepeated(op))
      pending.remove(op);
  TORCHERE_TRY(group.readInputs(roots));
  for (Operation *op : group.members())
    if (!shared.isRepeated(op))
      computed.insert(op);
  SmallVector<mlir::Value> results = shared.stored;
  llvm::append_range(results, roots);
  std::optional<VectorProgram> program = group.build(results);
  if (!program) {
    for (Operation *op : group.members()) {
      pending.remove(op);
      TORCHERE_TRY(planEvaluation(op));
    }
    return false;
  }
  std::vector<View> reads = group.inputs, stored, writes;
  for (mlir::Value value : shared.stored)
    stored.push_back(allocate(value));
  writes = stored;
  std::vector<JoinedStep::Output> outputs;
  for (Operation *op : reductions) {
    TORCHERE_ASSIGN(View initial, view(op->getOperand(1)));
    View result = allocate(op->getResult(0));
    outputs.push_back({*dtypeOf(op->getResult(0)), *reductionOf(op->getRegion(0)), initial, result});
    reads.push_back(initial);
    writes.push_back(result);
  }
  TORCHERE_ASSIGN(std::unique_ptr<const Step> step,
                  JoinedStep::create(*std::move(program), shapeOf(roots.front()),
                                     integersOf(reductions.front(), "dimensions"), group.inputs,
                                     std::move(stored), std::move(outputs), isa()));
  emit(std::move(step), reads, writes);
  return true;
}

Status Planner::flushReductions() {
  if (!std::exchange(hasReductions, false))
    return {};
  SmallVector<Operation *> waiting(pending.inOrder());
  for (Operation *op : waiting)
    if (isPending(op) && joinsReductions(op))
      TORCHERE_TRY(planGroup(op));
  return {};
}

std::optional<View> Planner::indicesOf(Operation *iota) {
  mlir::Value value = iota->getResult(0);
  auto dimension = static_cast<int64_t>(cast<stablehlo::IotaOp>(iota).getIotaDimension());
  int64_t count = shapeOf(value)[static_cast<size_t>(dimension)];
  std::optional<DType> type = dtypeOf(value);
  if (count > mostIndices || !type)
    return std::nullopt;
  VectorBuilder builder;
  builder.output(builder.iota(*type, 0), *type);
  Result<VectorProgram> program = builder.finish();
  if (!program)
    return std::nullopt;
  std::vector<std::byte> bytes(static_cast<size_t>(count) * byteSize(*type));
  ThreadPool alone(1);
  VectorWalk walk{1, {count}, {}, {{1}}};
  void *to = bytes.data();
  VectorPlan(*program, isa(), walk).run({alone, isa()}, nullptr, &to);
  View line = constant(elementTypeOf(value), {count}, bytes);
  return broadcast(line, shapeOf(value), {&dimension, 1});
}

} // namespace torchere::cpu
