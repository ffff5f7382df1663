// Plans sorts: comparators that compare keys are read as such, so that lines are sorted by digits.
#include "cpu/execute/sort_step.h"
#include "cpu/frontend/region_body.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/DenseSet.h"

#include <limits>

using namespace mlir;

namespace torchere::cpu {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Reads a comparator as a chain of keys: the first that differs decides.
class ComparatorReader {
public:
  explicit ComparatorReader(Region &region) : region(region) {}
  /// None if it is something else.
  std::optional<std::vector<SortColumn>> read();

private:
  bool readChain(mlir::Value value);
  bool addKey(mlir::Value value);
  bool addKeyWithNan(mlir::Value value);
  bool add(stablehlo::CompareOp op, FloatOrder order);
  bool isEqualityOfLast(mlir::Value value);
  bool mirrors(mlir::Value left, mlir::Value right);

  Region &region;
  std::vector<SortColumn> columns;
  mlir::Value lastLeft, lastRight; ///< what the last column compares
  llvm::DenseSet<std::pair<mlir::Value, mlir::Value>> mirrored;
};

/// Whether `left` is made of the first elements of pairs as `right` is of the second.
bool ComparatorReader::mirrors(mlir::Value left, mlir::Value right) {
  if (mirrored.contains({left, right}))
    return true;
  auto first = dyn_cast<BlockArgument>(left), second = dyn_cast<BlockArgument>(right);
  if (first || second)
    return first && second && first.getOwner() == second.getOwner() && first.getArgNumber() % 2 == 0 &&
           second.getArgNumber() == first.getArgNumber() + 1;
  Operation *a = left.getDefiningOp(), *b = right.getDefiningOp();
  if (a->getName() != b->getName() || a->getAttrDictionary() != b->getAttrDictionary() ||
      a->getNumResults() != 1 || a->getNumRegions() != 0 || a->getNumOperands() != b->getNumOperands())
    return false;
  bool isOutside = a->getParentRegion() != &region;
  if (isOutside && a != b && !isa<stablehlo::ConstantOp>(a))
    return false;
  if (!isOutside)
    for (auto [x, y] : llvm::zip_equal(a->getOperands(), b->getOperands()))
      if (!mirrors(x, y))
        return false;
  mirrored.insert({left, right});
  return true;
}

/// A strict comparison of a key of both elements.
bool ComparatorReader::add(stablehlo::CompareOp op, FloatOrder order) {
  Direction direction = op.getComparisonDirection();
  if (direction != Direction::LT && direction != Direction::GT)
    return false;
  mlir::Value left = op.getLhs(), right = op.getRhs();
  bool descending = direction == Direction::GT;
  if (!mirrors(left, right)) {
    std::swap(left, right);
    descending = !descending;
    if (!mirrors(left, right))
      return false;
  }
  std::optional<DType> type = dtypeOf(left);
  if (!type)
    return false;
  SortColumn column;
  column.key = {*type, order, descending};
  if (auto argument = dyn_cast<BlockArgument>(left)) {
    column.operand = argument.getArgNumber() / 2;
  } else {
    column.program = programOf(region, left);
    if (!column.program)
      return false;
  }
  columns.push_back(std::move(column));
  lastLeft = left;
  lastRight = right;
  return true;
}

bool ComparatorReader::addKey(mlir::Value value) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  if (!compare)
    return false;
  bool isTotal = compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  return add(compare, isTotal ? FloatOrder::Total : FloatOrder::Partial);
}

bool isComparison(mlir::Value value, Direction direction, mlir::Value left, mlir::Value right) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getComparisonDirection() != direction ||
      compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return false;
  return (compare.getLhs() == left && compare.getRhs() == right) ||
         (compare.getLhs() == right && compare.getRhs() == left);
}

/// `a < b or (b is NaN and a is not)`: NaN is greater than all numbers, as torch has it.
bool ComparatorReader::addKeyWithNan(mlir::Value value) {
  auto either = value.getDefiningOp<stablehlo::OrOp>();
  if (!either)
    return false;
  for (unsigned side : {0u, 1u}) {
    auto compare = either->getOperand(side).getDefiningOp<stablehlo::CompareOp>();
    auto both = either->getOperand(1 - side).getDefiningOp<stablehlo::AndOp>();
    if (!compare || !both || compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      continue;
    bool isLess = compare.getComparisonDirection() == Direction::LT;
    mlir::Value less = isLess ? compare.getLhs() : compare.getRhs();
    mlir::Value greater = isLess ? compare.getRhs() : compare.getLhs();
    for (unsigned first : {0u, 1u})
      if (isComparison(both->getOperand(first), Direction::NE, greater, greater) &&
          isComparison(both->getOperand(1 - first), Direction::EQ, less, less))
        return add(compare, FloatOrder::NanLast);
  }
  return false;
}

bool ComparatorReader::isEqualityOfLast(mlir::Value value) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getComparisonDirection() != Direction::EQ)
    return false;
  bool isTotal = compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  bool isFloatKey = isFloat(elementTypeOf(lastLeft));
  if (isFloatKey && isTotal != (columns.back().key.order == FloatOrder::Total))
    return false;
  return (compare.getLhs() == lastLeft && compare.getRhs() == lastRight) ||
         (compare.getLhs() == lastRight && compare.getRhs() == lastLeft);
}

/// A key, or `key decides, or else (the keys are equal and the rest decides)`.
bool ComparatorReader::readChain(mlir::Value value) {
  if (addKeyWithNan(value) || addKey(value))
    return true;
  auto either = value.getDefiningOp<stablehlo::OrOp>();
  if (!either)
    return false;
  for (unsigned side : {0u, 1u}) {
    auto both = either->getOperand(1 - side).getDefiningOp<stablehlo::AndOp>();
    if (!both || !addKey(either->getOperand(side)))
      continue;
    for (unsigned first : {0u, 1u})
      if (isEqualityOfLast(both->getOperand(first)))
        return readChain(both->getOperand(1 - first));
    return false;
  }
  return false;
}

std::optional<std::vector<SortColumn>> ComparatorReader::read() {
  if (!readChain(region.front().getTerminator()->getOperand(0)))
    return std::nullopt;
  return std::move(columns);
}

/// How many elements of a line are used, from the first on: a sort of which slices alone are used finds the
/// largest, or the least.
int64_t leadingElements(Operation *sort, int64_t dimension) {
  auto at = static_cast<size_t>(dimension);
  int64_t leading = 0;
  for (Operation *user : sort->getUsers()) {
    auto slice = dyn_cast<stablehlo::SliceOp>(user);
    leading = std::max(leading, slice ? slice.getLimitIndices()[at] : shapeOf(sort->getResult(0))[at]);
  }
  return leading;
}

Result<bool> planSort(Planner &planner, Operation *op) {
  Sizes shape = shapeOf(op->getResult(0));
  if (shape.size() > kMaxRank)
    return false;
  auto given = op->getAttrOfType<IntegerAttr>("dimension"); // the last without it
  int64_t dimension = given ? given.getInt() : -1;
  dimension += dimension < 0 ? static_cast<int64_t>(shape.size()) : 0;
  for (mlir::Value value : op->getOperands())
    if (!dtypeOf(value))
      return false;
  if (!shape.empty() && shape[static_cast<size_t>(dimension)] > std::numeric_limits<uint32_t>::max())
    return false;
  SortPlan plan;
  Region &comparator = op->getRegion(0);
  std::optional<std::vector<SortColumn>> columns = ComparatorReader(comparator).read();
  if (columns)
    plan.columns = *std::move(columns);
  std::optional<RegionProgram> program = programOf(comparator);
  if (!program || !program->captures.empty()) {
    bool isSure = !plan.columns.empty() && llvm::none_of(plan.columns, [](const SortColumn &column) {
      return column.key.order == FloatOrder::Partial && dtypeInfo(column.key.type).isFloatingPoint;
    });
    if (!isSure)
      return false;
  } else {
    plan.comparator = std::move(program->program);
  }
  std::vector<View> inputs, results;
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(View view, planner.view(operand));
    inputs.push_back(view);
  }
  if (shape.empty()) { // one element
    for (auto [view, value] : llvm::zip_equal(inputs, op->getResults()))
      planner.bind(value, view);
    return true;
  }
  for (mlir::Value value : op->getResults())
    results.push_back(planner.allocate(value));
  auto step =
      std::make_unique<SortStep>(std::move(plan), dimension, leadingElements(op, dimension), inputs, results);
  planner.emit(std::move(step), inputs, results);
  return true;
}

} // namespace

void addSorting(PlannerTable &table) {
  table.add("stablehlo.sort", planSort);
}

} // namespace torchere::cpu
