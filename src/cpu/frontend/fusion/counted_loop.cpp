// Recognizes loops that count.
#include "cpu/frontend/fusion/counted_loop.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

using Comparison = stablehlo::ComparisonDirection;

/// Of the same two numbers in the other order.
Comparison mirrored(Comparison comparison) {
  switch (comparison) {
  case Comparison::LT:
    return Comparison::GT;
  case Comparison::LE:
    return Comparison::GE;
  case Comparison::GT:
    return Comparison::LT;
  case Comparison::GE:
    return Comparison::LE;
  case Comparison::EQ:
  case Comparison::NE:
    break;
  }
  return comparison;
}

bool isCountable(mlir::Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<ElementType> element = type ? stablehlo::elementTypeOf(type.getElementType()) : std::nullopt;
  if (!element || type.getRank() != 0)
    return false;
  const auto &info = elementTypeInfo(*element);
  return info.dtype && isInteger(*element) && info.bits >= 8;
}

/// What a turn adds to the loop's value.
std::optional<int64_t> stepOf(stablehlo::WhileOp loop, unsigned index) {
  Block &body = loop.getBody().front();
  Operation *next = body.getTerminator()->getOperand(index).getDefiningOp();
  if (!isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp>(next))
    return std::nullopt;
  bool adds = isa<stablehlo::AddOp>(next);
  mlir::Value counter = body.getArgument(index), left = next->getOperand(0), right = next->getOperand(1);
  if (adds && right == counter)
    std::swap(left, right);
  APInt step;
  if (left != counter || left.getType() != right.getType() || !matchPattern(right, m_ConstantInt(&step)))
    return std::nullopt;
  return (adds ? step : -step).getSExtValue();
}

} // namespace

std::optional<CountedLoop> countedLoop(stablehlo::WhileOp loop) {
  Block &condition = loop.getCond().front();
  auto compare = dyn_cast<stablehlo::CompareOp>(condition.front());
  if (!compare || compare->getNextNode() != condition.getTerminator() ||
      condition.getTerminator()->getOperand(0) != compare)
    return std::nullopt;
  CountedLoop count;
  count.comparison = compare.getComparisonDirection();
  mlir::Value left = compare.getLhs();
  count.limit = compare.getRhs();
  if (count.limit.getParentBlock() == &condition) {
    std::swap(left, count.limit);
    count.comparison = mirrored(count.comparison);
  }
  auto counter = dyn_cast<BlockArgument>(left);
  if (!counter || counter.getOwner() != &condition || count.limit.getParentBlock() == &condition ||
      !isCountable(counter) || !isCountable(count.limit) ||
      loop->getResult(counter.getArgNumber()).getType() != counter.getType())
    return std::nullopt;
  count.index = counter.getArgNumber();
  std::optional<int64_t> step = stepOf(loop, count.index);
  if (!step)
    return std::nullopt;
  count.step = *step;
  return count;
}

} // namespace torchere::cpu
