// Implements the planning of rows: reductions and what is made of their results, in one vector program.
#include "cpu/frontend/row_group.h"

#include "cpu/execute/joined_step.h"
#include "cpu/execute/vector_step.h"
#include "cpu/frontend/complex_elements.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/frontend/joined_reductions.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/ScopeExit.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// More tiles would not stay in the L1 cache together.
constexpr size_t mostMembers = 64;
/// Shorter rows are not worth a loop of their own.
constexpr int64_t fewestColumns = 16;
/// Fewer rows, if they are long, are reduced by all threads together.
constexpr int64_t fewestRows = 16, fewElements = 1 << 14;
/// Slots of whole rows that the L2 cache holds.
constexpr int64_t mostSlotBytes = 1 << 18;
/// Ops on the way from a reduction to what is stored.
constexpr size_t mostSteps = 128;

/// The program's op of a reduction, and the op of two elements.
struct RowFolding {
  VectorOp reduce, join;
  double neutral; ///< of floats
};
std::optional<RowFolding> rowFoldingOf(Operation *op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (*reductionOf(op->getRegion(0))) {
  case Reduction::Sum:
    return RowFolding{VectorOp::ReduceSum, VectorOp::Add, 0};
  case Reduction::Product:
    return RowFolding{VectorOp::ReduceProduct, VectorOp::Multiply, 1};
  case Reduction::Max:
    return RowFolding{VectorOp::ReduceMaximum, VectorOp::Maximum, -infinity};
  case Reduction::Min:
    return RowFolding{VectorOp::ReduceMinimum, VectorOp::Minimum, infinity};
  case Reduction::And:
  case Reduction::Or:
    break;
  }
  return std::nullopt;
}

int64_t countOf(mlir::Value value) {
  return elementCount(shapeOf(value));
}

bool changesShape(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(op);
}

/// Whether the op computes real elements from others, which a program does not count itself.
bool isOfElements(Operation *op) {
  return hasVectorType(op->getResult(0)) && !hasComplex(op) && !isa<stablehlo::IotaOp>(op);
}

/// Whether the op's result gets memory whoever plans it: something else than elementwise ops, reductions and
/// views reads it.
bool isStoredAnyway(Operation *op) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    if (isView(user))
      return isStoredAnyway(user);
    return !joinsGroups(user) && !joinsReductions(user);
  });
}

} // namespace

bool isOfRows(Operation *reduction) {
  Sizes dimensions = integersOf(reduction, "dimensions");
  auto rank = static_cast<int64_t>(shapeOf(reduction->getOperand(0)).size());
  auto count = static_cast<int64_t>(dimensions.size());
  return count > 0 && llvm::all_of(dimensions, [&](int64_t each) { return each >= rank - count; });
}

std::optional<int64_t> spreadRows(Operation *op) {
  int64_t rows = countOf(op->getOperand(0));
  if (isa<stablehlo::ReshapeOp>(op))
    return rows;
  if (!isa<stablehlo::BroadcastInDimOp>(op))
    return std::nullopt;
  Sizes from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  Sizes dimensions = integersOf(op, "broadcast_dimensions");
  // Dimensions that are there come first, those that are made behind them.
  Sizes sources(to.size(), 1);
  for (auto [size, dimension] : llvm::zip_equal(from, dimensions))
    sources[static_cast<size_t>(dimension)] = size;
  bool isMade = false;
  for (auto [source, size] : llvm::zip_equal(sources, to)) {
    if (size == 1)
      continue;
    if (source == size && isMade)
      return std::nullopt;
    isMade |= source != size;
  }
  return llvm::is_sorted(dimensions) ? std::optional(rows) : std::nullopt;
}

RowGroup::RowGroup(Planner &planner, ArrayRef<Operation *> roots) : planner(planner) {
  Operation *first = roots.front();
  if (joinsReductions(first)) {
    rootReductions = roots.size();
    shape = shapeOf(first->getOperand(0));
    if (!isOfRows(first) || llvm::any_of(roots, [](Operation *op) { return !rowFoldingOf(op); }))
      return;
    rows = countOf(first->getResult(0));
  } else {
    shape = shapeOf(first->getResult(0));
    if (!isOfElements(first))
      return;
  }
  collect(roots);
  if (rows == 0)
    return;
  int64_t count = 1;
  while (count < rows && kept < shape.size())
    count *= shape[kept++];
  columns = elementCount(shape) / std::max<int64_t>(rows, 1);
  if (count != rows)
    ops.clear();
}

std::optional<RowGroup::Kind> RowGroup::kindOf(Operation *op, bool isWide) const {
  if (!planner.isPending(op) || !hasVectorType(op->getResult(0)))
    return std::nullopt;
  if (changesShape(op)) {
    std::optional<int64_t> spread = spreadRows(op);
    bool isFew = spread && *spread < fewestRows && elementCount(shape) > fewElements;
    bool isSpread = spread && !isFew && (rows == 0 || *spread == rows) &&
                    (isWide || countOf(op->getResult(0)) == *spread);
    return isSpread ? std::optional(Kind::Spread) : std::nullopt;
  }
  if (isa<stablehlo::ReduceOp>(op)) {
    bool isRow = !isWide && isOfRows(op) && shapeOf(op->getOperand(0)) == shape &&
                 countOf(op->getResult(0)) == rows && rowFoldingOf(op);
    return isRow ? std::optional(Kind::Row) : std::nullopt;
  }
  if (!isOfElements(op))
    return std::nullopt;
  if (isWide)
    return shapeOf(op->getResult(0)) == shape ? std::optional(Kind::Wide) : std::nullopt;
  return countOf(op->getResult(0)) == rows ? std::optional(Kind::Row) : std::nullopt;
}

/// Reductions and wide ops read what is wide; initial values are elements of rows.
bool RowGroup::isWideOperand(Operation *op, unsigned operand) const {
  return isa<stablehlo::ReduceOp>(op) ? operand == 0 : kinds.lookup(op) == Kind::Wide;
}

void RowGroup::collect(ArrayRef<Operation *> roots) {
  for (Operation *root : roots) {
    kinds[root] = rootReductions == 0 ? Kind::Wide : Kind::Row;
    ops.push_back(root);
  }
  for (size_t next = 0; next < ops.size() && ops.size() <= mostMembers; ++next)
    for (auto [index, operand] : llvm::enumerate(ops[next]->getOperands())) {
      Operation *source = operand.getDefiningOp();
      if (!source || kinds.contains(source))
        continue;
      std::optional<Kind> kind = kindOf(source, isWideOperand(ops[next], static_cast<unsigned>(index)));
      if (!kind)
        continue;
      if (*kind == Kind::Spread && rows == 0)
        rows = *spreadRows(source);
      kinds[source] = *kind;
      ops.push_back(source);
    }
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

bool RowGroup::isWorthwhile() const {
  auto reductions =
      static_cast<size_t>(llvm::count_if(ops, [](Operation *op) { return isa<stablehlo::ReduceOp>(op); }));
  bool hasSize = columns >= fewestColumns && rows > 0 &&
                 (rows >= fewestRows || elementCount(shape) <= fewElements) && shape.size() < kVectorRank;
  return reductions > rootReductions && hasSize && ops.size() <= mostMembers;
}

SmallVector<mlir::Value> RowGroup::waitingInputs() const {
  SmallVector<mlir::Value> found;
  for (Operation *op : ops)
    for (mlir::Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (planner.isPending(source) && !contains(source) && !isa<stablehlo::IotaOp>(source))
        found.push_back(operand);
    }
  return found;
}

void RowGroup::findShared(ArrayRef<Operation *> roots) {
  auto isWide = [&](Operation *op) { return contains(op) && kinds.lookup(op) == Kind::Wide; };
  for (Operation *op : llvm::reverse(ops)) {
    auto isOutside = [&](Operation *user) { return !contains(user) && !planner.isComputed(user); };
    bool isNeeded = llvm::any_of(op->getUsers(), isOutside);
    bool isReadAgain = llvm::any_of(op->getUsers(), [&](Operation *user) { return isRepeated(user); });
    if (!isWide(op)) {
      isNeeded |= isReadAgain || llvm::any_of(op->getUsers(), [&](Operation *user) { return isSeen(user); });
      if (isNeeded && changesShape(op))
        seen.insert(op);
      else if (isNeeded)
        results.push_back(op);
      continue;
    }
    bool isReadByGroups = llvm::all_of(op->getUsers(), [&](Operation *user) {
      return !isOutside(user) ||
             ((joinsGroups(user) || joinsReductions(user)) && user->getBlock() == op->getBlock());
    });
    if (llvm::is_contained(roots, op) || (isNeeded && !(isReadByGroups && isLittle(op, isWide))))
      results.push_back(op);
    else if (isNeeded || isReadAgain)
      repeated.insert(op);
  }
}

Sizes RowGroup::walk() const {
  Sizes sizes = outer();
  sizes.push_back(columns);
  return sizes;
}

/// A dense value of elements of rows, or what is like it in all of them, as the program walks it.
View RowGroup::spreadOver(const View &rowElements) const {
  Sizes dimensions(kept);
  std::iota(dimensions.begin(), dimensions.end(), 0);
  return broadcast(*reshaped(rowElements, outer()), walk(), dimensions);
}

View RowGroup::walked(Operation *op, const View &view) const {
  return kinds.lookup(op) == Kind::Wide ? *reshaped(view, walk()) : spreadOver(view);
}

/// None if the elements of a row do not follow each other in memory, in one step from each to the next.
Result<std::optional<View>> RowGroup::inputView(mlir::Value value, bool isWide) const {
  auto iota = value.getDefiningOp<stablehlo::IotaOp>();
  std::optional<View> indices = iota && planner.isPending(iota) ? planner.indicesOf(iota) : std::nullopt;
  View view;
  if (indices) {
    view = *indices;
  } else {
    TORCHERE_ASSIGN(view, planner.view(value));
  }
  if (elementCount(view.shape) == 1)
    return broadcast(*reshaped(view, {}), walk(), {});
  if (!isWide) {
    if (!reshaped(view, outer())) {
      TORCHERE_ASSIGN(view, planner.viewDense(value));
    }
    return spreadOver(view);
  }
  std::optional<View> found = reshaped(view, walk());
  return found && std::abs(found->strides.back()) <= 1 ? found : std::nullopt;
}

Result<bool> RowGroup::readInputs() {
  for (bool isWide : {true, false}) // elements of rows, which may be copied, only if nothing else is missing
    for (Operation *op : ops)
      for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
        bool isRead = !contains(operand.getDefiningOp()) && !read.contains({operand, isWide});
        if (!isRead || isWideOperand(op, static_cast<unsigned>(index)) != isWide)
          continue;
        TORCHERE_ASSIGN(std::optional<View> view, inputView(operand, isWide));
        if (!view)
          return false;
        read[{operand, isWide}] = *view;
      }
  return true;
}

/// Gives each member its value in a program.
class RowGroup::Builder {
public:
  explicit Builder(RowGroup &group) : group(group) {
    for (auto &[key, view] : group.read) {
      auto [value, isWide] = key;
      group.inputs.push_back(view);
      given[key] = isWide ? builder.input(laneTypeOf(value)) : builder.rowInput(laneTypeOf(value));
    }
  }
  /// False if the op has no instruction.
  bool add(Operation *op) {
    std::optional<VectorBuilder::Value> value = llvm::isa<stablehlo::ReduceOp>(op) ? reduce(op)
                                                : changesShape(op)                 ? operandOf(op, 0)
                                                                                   : apply(op);
    if (value)
      made[op->getResult(0)] = *value;
    return value.has_value();
  }
  void store(Operation *op) {
    VectorBuilder::Value value = made.lookup(op->getResult(0));
    bool isWide = group.kinds.lookup(op) == Kind::Wide;
    builder.output(isWide ? builder.spread(value) : value, laneTypeOf(op->getResult(0)));
  }
  std::optional<VectorProgram> finish() {
    if (group.columns <= VectorProgram::mostRowElements) {
      Result<VectorProgram> whole = builder.finishWholeRows();
      if (whole && whole->rowElements(group.columns) * 4 <= mostSlotBytes)
        return *std::move(whole);
    }
    Result<VectorProgram> program = builder.finish();
    return program ? std::optional(*std::move(program)) : std::nullopt;
  }

private:
  VectorBuilder::Value operandOf(Operation *op, unsigned index) const {
    mlir::Value operand = op->getOperand(index);
    return group.contains(operand.getDefiningOp()) ? made.lookup(operand)
                                                   : given.lookup({operand, group.isWideOperand(op, index)});
  }
  /// The program begins with the neutral element; another initial value is joined to the result.
  std::optional<VectorBuilder::Value> reduce(Operation *op) {
    RowFolding folding = *rowFoldingOf(op);
    VectorBuilder::Value joined = builder.apply(folding.reduce, builder.spread(operandOf(op, 0)));
    std::optional<double> initial = splatOf(op->getOperand(1));
    if (!initial || *initial != folding.neutral)
      joined = builder.apply(folding.join, joined, operandOf(op, 1));
    return builder.convert(joined, laneTypeOf(op->getResult(0)));
  }
  std::optional<VectorBuilder::Value> apply(Operation *op) {
    SmallVector<VectorBuilder::Value> operands;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      operands.push_back(operandOf(op, i));
    return applyElementwise(builder, op, operands);
  }

  RowGroup &group;
  VectorBuilder builder;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, VectorBuilder::Value> given;
  llvm::DenseMap<mlir::Value, VectorBuilder::Value> made;
};

std::optional<VectorProgram> RowGroup::build() {
  inputs.clear();
  Builder builder(*this);
  for (Operation *op : ops)
    if (!builder.add(op))
      return std::nullopt;
  for (Operation *op : results)
    builder.store(op);
  return builder.finish();
}

bool Planner::keepsRows(Operation *op) const {
  if (!changesShape(op))
    return false;
  Operation *source = op->getOperand(0).getDefiningOp();
  return isPending(source) && rowValues.contains(source) && source->getBlock() == op->getBlock() &&
         spreadRows(op) && hasVectorType(op->getResult(0));
}

void Planner::defer(Operation *op) {
  if (op->use_empty())
    return;
  size_t depth = 1;
  for (mlir::Value operand : op->getOperands())
    depth = std::max(depth, pending.depthOf(operand.getDefiningOp()) + 1);
  pending.insert(op, depth);
  auto isRow = [&](mlir::Value operand) {
    Operation *source = operand.getDefiningOp();
    return isPending(source) && rowValues.contains(source) && countOf(operand) == countOf(op->getResult(0));
  };
  bool isReduction = llvm::isa<stablehlo::ReduceOp>(op);
  if (isReduction ? isOfRows(op) && rowFoldingOf(op) : llvm::any_of(op->getOperands(), isRow))
    rowValues.insert(op);
}

/// The last of what waits, is computed from the elements of rows and has rows again, and is stored or
/// reduced: then one step can be all of it. Null if there is none.
Operation *Planner::rowRootOf(Operation *first) const {
  if (isSettling || !rowValues.contains(first))
    return nullptr;
  int64_t rows = countOf(first->getResult(0));
  SmallVector<Operation *> found{first};
  llvm::SmallPtrSet<Operation *, 32> known{first};
  Operation *root = nullptr;
  for (size_t next = 0; next < found.size() && found.size() <= mostSteps; ++next)
    for (Operation *user : found[next]->getUsers()) {
      if (!isPending(user) || user->getBlock() != first->getBlock() || !known.insert(user).second)
        continue;
      found.push_back(user);
      bool isWide = countOf(user->getResult(0)) > rows && !changesShape(user);
      bool isRoot = joinsReductions(user) ? isOfRows(user) && countOf(user->getResult(0)) == rows
                                          : isWide && isStoredAnyway(user);
      if (isRoot && (!root || root->isBeforeInBlock(user)))
        root = user;
    }
  return root;
}

/// Plans a view that has waited with what it is of.
Status Planner::planWaitingView(Operation *op) {
  TORCHERE_TRY(view(op->getOperand(0)));
  if (!isPending(op))
    return {};
  pending.remove(op);
  return planOp(op);
}

/// True if one step computes the roots and whatever they need of their rows; then others may be computed
/// too.
Result<bool> Planner::planRows(ArrayRef<Operation *> roots) {
  if (rowValues.empty())
    return false;
  std::optional<RowGroup> group;
  bool isSettled = false;
  while (!isSettled) {
    group.emplace(*this, roots);
    if (!group->isWorthwhile())
      return false;
    TORCHERE_ASSIGN(isSettled, settle(group->waitingInputs()));
    if (!llvm::all_of(roots, [&](Operation *root) { return isPending(root); }))
      return false;
  }
  TORCHERE_ASSIGN(bool isRead, group->readInputs());
  if (!isRead)
    return false;
  group->findShared(roots);
  std::optional<VectorProgram> program = group->build();
  if (!program)
    return false;
  std::vector<View> reads = group->inputs, writes;
  for (Operation *op : group->stored())
    writes.push_back(group->walked(op, allocate(op->getResult(0))));
  TORCHERE_ASSIGN(std::unique_ptr<const Step> step,
                  VectorStep::create(*std::move(program), reads, writes, /*isWalked=*/false, isa()));
  emit(std::move(step), reads, writes);
  for (Operation *op : group->members())
    if (!group->isRepeated(op)) {
      pending.remove(op);
      computed.insert(op);
    }
  for (Operation *op : group->members())
    if (group->isSeen(op))
      TORCHERE_TRY(planOp(op));
  return true;
}

} // namespace torchere::cpu
