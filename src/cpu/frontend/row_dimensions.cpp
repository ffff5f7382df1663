// Implements RowDimensions.
#include "cpu/frontend/row_dimensions.h"

#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

using Kept = SmallVector<int64_t>;

/// The dimensions for which it holds stay where they are.
Kept sameWhere(size_t rank, llvm::function_ref<bool(size_t)> holds) {
  Kept kept(rank, -1);
  for (size_t i = 0; i < rank; ++i)
    if (holds(i))
      kept[i] = static_cast<int64_t>(i);
  return kept;
}

Kept keptByReshape(const Sizes &from, const Sizes &to) {
  Kept kept(from.size(), -1);
  int64_t before = 1;
  for (size_t i = 0; i < from.size(); before *= from[i++]) {
    int64_t other = 1;
    for (size_t j = 0; j < to.size(); other *= to[j++])
      if (from[i] != 1 && to[j] == from[i] && other == before)
        kept[i] = static_cast<int64_t>(j);
  }
  return kept;
}

/// Results have the dimensions of batches, then those of each factor that are not summed over.
Kept keptByProduct(stablehlo::DotGeneralOp dot, unsigned factor) {
  stablehlo::DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> batches[] = {numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()};
  ArrayRef<int64_t> summed[] = {numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()};
  auto next = static_cast<int64_t>(batches[0].size());
  for (unsigned i = 0;; ++i) {
    Kept kept(shapeOf(dot->getOperand(i)).size(), -1);
    for (auto [place, dimension] : llvm::enumerate(batches[i]))
      kept[static_cast<size_t>(dimension)] = static_cast<int64_t>(place);
    for (size_t dimension = 0; dimension < kept.size(); ++dimension)
      if (kept[dimension] < 0 && !llvm::is_contained(summed[i], static_cast<int64_t>(dimension)))
        kept[dimension] = next++;
    if (i == factor)
      return kept;
  }
}

Kept keptByBroadcast(stablehlo::BroadcastInDimOp op) {
  Sizes from = shapeOf(op.getOperand()), to = shapeOf(op->getResult(0));
  Kept kept(op.getBroadcastDimensions());
  for (size_t i = 0; i < kept.size(); ++i)
    if (from[i] != to[static_cast<size_t>(kept[i])])
      kept[i] = -1;
  return kept;
}

Kept keptByTranspose(stablehlo::TransposeOp op) {
  Kept kept(op.getPermutation().size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    kept[static_cast<size_t>(from)] = static_cast<int64_t>(to);
  return kept;
}

} // namespace

std::optional<SmallVector<int64_t>> dimensionsKept(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return std::nullopt;
  Sizes from = shapeOf(operand.get()), to = shapeOf(op->getResult(0));
  auto isWhole = [&](const Sizes &part, const Sizes &whole) {
    return sameWhere(part.size(), [&](size_t i) { return part[i] == whole[i]; });
  };
  if (isElementwise(op))
    return from == to ? sameWhere(from.size(), [](size_t) { return true; }) : Kept(from.size(), -1);
  if (isa<stablehlo::SliceOp>(op))
    return isWhole(from, to);
  if (isa<stablehlo::DynamicSliceOp>(op))
    return operand.getOperandNumber() == 0 ? isWhole(from, to) : Kept(from.size(), -1);
  if (isa<stablehlo::DynamicUpdateSliceOp>(op))
    return operand.getOperandNumber() <= 1 ? isWhole(shapeOf(op->getOperand(1)), to) : Kept(from.size(), -1);
  if (isa<stablehlo::ReshapeOp>(op))
    return keptByReshape(from, to);
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return keptByTranspose(transpose);
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return keptByBroadcast(broadcast);
  if (auto join = dyn_cast<stablehlo::ConcatenateOp>(op))
    return sameWhere(from.size(), [&](size_t i) { return i != static_cast<size_t>(join.getDimension()); });
  if (auto reverse = dyn_cast<stablehlo::ReverseOp>(op))
    return sameWhere(from.size(), [&](size_t i) {
      return !llvm::is_contained(reverse.getDimensions(), static_cast<int64_t>(i));
    });
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return keptByProduct(dot, operand.getOperandNumber());
  return std::nullopt;
}

std::optional<SmallVector<std::optional<int64_t>>> dimensionsBefore(Operation *op, int64_t dimension) {
  SmallVector<std::optional<int64_t>> before;
  // Of a part of something else, which part it is would have to be changed.
  bool isRepeated = isa<stablehlo::BroadcastInDimOp>(op), isKept = isRepeated;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Kept> kept = dimensionsKept(operand);
    if (!kept)
      return std::nullopt;
    auto found = llvm::find(*kept, dimension);
    before.push_back(found == kept->end() ? std::nullopt : std::optional(found - kept->begin()));
    isKept |= before.back().has_value();
  }
  return isKept ? std::optional(before) : std::nullopt;
}

std::optional<int64_t> RowDimensions::of(mlir::Value value) const {
  auto found = dimensions.find(value);
  return found == dimensions.end() ? std::nullopt : std::optional(found->second);
}

bool RowDimensions::set(mlir::Value value, int64_t dimension) {
  auto [found, isNew] = dimensions.try_emplace(value, dimension);
  if (isNew)
    changed.push_back(value);
  return found->second == dimension;
}

/// What follows of the op's operands and results for each other.
bool RowDimensions::setAround(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    for (auto [value, argument] : llvm::zip_equal(op->getOperands(), body.getArguments()))
      if (std::optional<int64_t> dimension = of(value); dimension && !set(argument, *dimension))
        return false;
    return true;
  }
  if (op->getNumOperands() == 0) // only the same value everywhere is known to be the same for all rows
    return isa<stablehlo::ConstantOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Kept> kept = dimensionsKept(operand);
    if (!kept)
      return false;
    if (std::optional<int64_t> dimension = of(operand.get())) {
      int64_t to = (*kept)[static_cast<size_t>(*dimension)];
      if (to < 0 || !set(op->getResult(0), to))
        return false;
    }
  }
  std::optional<int64_t> result = of(op->getResult(0));
  if (!result)
    return true;
  auto before = dimensionsBefore(op, *result);
  if (!before)
    return false;
  for (auto [operand, dimension] : llvm::zip_equal(op->getOperands(), *before))
    if (dimension && !set(operand, *dimension))
      return false;
  return true;
}

bool RowDimensions::spread(mlir::Value value, int64_t dimension) {
  if (!set(value, dimension))
    return false;
  while (!changed.empty()) {
    mlir::Value next = changed.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next); argument && argument.getOwner() == &body)
      if (!set(body.getTerminator()->getOperand(argument.getArgNumber()), dimensions.lookup(next)))
        return false;
    if (Operation *op = next.getDefiningOp(); op && op->getBlock() == &body && !setAround(op))
      return false;
    for (Operation *user : next.getUsers())
      if (body.getParentOp()->isProperAncestor(user) && (user->getBlock() != &body || !setAround(user)))
        return false;
  }
  return true;
}

} // namespace torchere::cpu
