// Implements the search for ops that one pass computes.
#include "cpu/vector/pass_joiner.h"

#include "cpu/vector/op_rules.h"
#include "cpu/vector/tile_runner.h"

#include <algorithm>

namespace torchere::cpu {

namespace {

std::optional<int> firstOf(VectorOp op) {
  if (op == VectorOp::Add || op == VectorOp::Subtract || op == VectorOp::Multiply)
    return op == VectorOp::Add ? 0 : op == VectorOp::Subtract ? 1 : 2;
  return std::nullopt;
}

/// `isLeft`, `isRight`: which operands the first op's result is.
std::optional<PairSecond> secondOf(VectorOp op, bool isLeft, bool isRight) {
  if (op == VectorOp::RoundToF16 || op == VectorOp::RoundToBF16)
    return op == VectorOp::RoundToF16 ? kPairRoundToF16 : kPairRoundToBF16;
  if (isLeft && isRight)
    return op == VectorOp::Multiply ? std::optional(kPairSquare) : std::nullopt;
  if (op == VectorOp::Add)
    return kPairAdd;
  if (op == VectorOp::Multiply)
    return kPairMultiply;
  if (op == VectorOp::Subtract)
    return isLeft ? kPairSubtract : kPairSubtractFrom;
  if (op == VectorOp::Divide)
    return isLeft ? kPairDivide : kPairDivideInto;
  return std::nullopt;
}

} // namespace

void PassJoiner::run() {
  for (const VectorPhase &phase : program.phases)
    for (uint32_t at = phase.rowEnd; at < phase.end; ++at)
      if (isComparison(program.instructions[at].op))
        joinChoice(at, phase.end);
      else
        joinPair(at, phase.end);
  if (!reductions.empty() || program.hasWholeRows)
    for (const VectorPhase &phase : program.phases)
      for (uint32_t at = phase.rowEnd; at < phase.end; ++at)
        joinSum(at, phase.end);
  drop();
}

bool PassJoiner::isOfFloats(uint32_t at) const {
  const VectorInstruction &instruction = program.instructions[at];
  return instruction.type == DType::F32 && instruction.to == DType::F32 && !instruction.perRow;
}

/// The only instruction that reads the result of the one at `at`, if it reads nothing else than that.
std::optional<uint32_t> PassJoiner::onlyReader(uint32_t at, uint32_t end) const {
  uint16_t slot = program.instructions[at].result;
  std::optional<uint32_t> found;
  for (uint32_t i = at + 1; i < end; ++i) {
    const VectorInstruction &later = program.instructions[i];
    int count = operandCount(later.op);
    if (std::find(later.operands, later.operands + count, slot) != later.operands + count) {
      if (found)
        return std::nullopt;
      found = i;
    }
    if (later.op != VectorOp::Store && later.result == slot)
      break;
  }
  return found;
}

/// Whether what the operation at `at` reads is still in its slots at `until`.
bool PassJoiner::isKeptUntil(uint32_t at, uint32_t until) const {
  const VectorPlan::Operation &operation = plan.operations[at];
  for (uint32_t i = at + 1; i < until; ++i) {
    const VectorInstruction &between = program.instructions[i];
    const uint16_t *end = operation.operands + operation.operandCount;
    if (between.op != VectorOp::Store && std::find(operation.operands, end, between.result) != end)
      return false;
  }
  return true;
}

void PassJoiner::joinPair(uint32_t at, uint32_t end) {
  const VectorInstruction &one = program.instructions[at];
  std::optional<int> first = firstOf(one.op);
  if (!first || !isOfFloats(at) || !plan.operations[at].primitive)
    return;
  std::optional<uint32_t> next = onlyReader(at, end);
  bool isPair = next && !plan.operations[*next].primitive; // with its other operand already
  if (!next || isPair || !isOfFloats(*next) || !isKeptUntil(at, *next))
    return;
  const VectorInstruction &other = program.instructions[*next];
  int count = operandCount(other.op);
  bool isLeft = other.operands[0] == one.result, isRight = count > 1 && other.operands[1] == one.result;
  std::optional<PairSecond> second = secondOf(other.op, isLeft, isRight);
  if (!second)
    return;
  VectorPlan::Operation &pair = plan.operations[*next];
  pair.primitive = nullptr;
  pair.onRows = primitives.pairs[*first][*second];
  pair.operands[2] = isLeft ? other.operands[1] : other.operands[0];
  pair.operands[0] = one.operands[0];
  pair.operands[1] = one.operands[1];
  pair.operandCount = *second < kPairSquare ? 3 : 2;
  squares[*next] = *second == kPairSquare && one.op == VectorOp::Subtract;
  isDropped[at] = true;
}

/// A comparison whose result is but the predicate of one select.
void PassJoiner::joinChoice(uint32_t at, uint32_t end) {
  const VectorInstruction &compared = program.instructions[at];
  const VectorPlan::Operation &comparison = plan.operations[at];
  if (compared.perRow || !comparison.primitive || compared.type != DType::F32)
    return;
  std::optional<uint32_t> next = onlyReader(at, end);
  if (!next || program.instructions[*next].op != VectorOp::Select || !isOfFloats(*next) ||
      !isKeptUntil(at, *next))
    return;
  VectorPlan::Operation &choice = plan.operations[*next];
  choice.primitive = nullptr;
  choice.onRows = primitives.choices[comparisonNumber(compared.op)];
  choice.isSelect = false;
  choice.operandCount = 4;
  choice.operands[3] = choice.operands[2];
  choice.operands[2] = choice.operands[1];
  choice.operands[0] = compared.operands[0];
  choice.operands[1] = compared.operands[1];
  isDropped[at] = true;
}

/// A product or a square that only a sum reads.
void PassJoiner::joinSum(uint32_t at, uint32_t end) {
  const VectorInstruction &made = program.instructions[at];
  VectorPlan::Operation &operation = plan.operations[at];
  if (isDropped[at] || made.op != VectorOp::Multiply || !isOfFloats(at) ||
      (!operation.primitive && !squares[at]))
    return;
  std::optional<uint32_t> reader = onlyReader(at, end);
  if (!reader || plan.tileColumns < kShortestRow)
    return;
  SummedOp summed = squares[at]                            ? kSumOfSquaredDifferences
                    : made.operands[0] == made.operands[1] ? kSumOfSquares
                                                           : kSumOfProducts;
  if (program.instructions[*reader].op == VectorOp::ReduceSum) {
    if (!isKeptUntil(at, *reader + 1)) // the sums may take an operand's slot
      return;
    VectorPlan::Operation &sum = plan.operations[*reader];
    sum.action = VectorPlan::Action::SumRows;
    sum.onRows = primitives.sumsAlong[summed];
    sum.operandCount = summed == kSumOfSquares ? 1 : 2;
    std::copy(std::begin(operation.operands), std::end(operation.operands), sum.operands);
    isDropped[at] = true;
    return;
  }
  if (plan.operations[*reader].action != VectorPlan::Action::Keep)
    return;
  uint16_t output = program.instructions[*reader].index;
  TileReduction reduction = reductions[output - plan.outputs.size()];
  bool isAcross = reduction == TileReduction::SumAcross;
  if (reduction == TileReduction::Other)
    return;
  operation.action = VectorPlan::Action::Join;
  operation.primitive = nullptr;
  operation.onRows = (isAcross ? primitives.sumsAcross : primitives.sumsAlong)[summed];
  operation.operandCount = summed == kSumOfSquares ? 1 : 2;
  operation.index = output;
  operation.place = -1;
  plan.joined[output] = true;
  isDropped[*reader] = true;
}

void PassJoiner::drop() {
  std::vector<VectorPlan::Operation> kept;
  auto place = [&](uint32_t end) {
    return static_cast<uint32_t>(std::count(isDropped.begin(), isDropped.begin() + end, false));
  };
  for (size_t i = 0; i < plan.operations.size(); ++i)
    if (!isDropped[i])
      kept.push_back(plan.operations[i]);
  plan.setupEnd = place(plan.setupEnd);
  for (VectorPlan::Phase &phase : plan.phases)
    phase = {place(phase.rowEnd), place(phase.end)};
  plan.operations = std::move(kept);
}

} // namespace torchere::cpu
