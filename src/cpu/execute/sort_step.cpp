// Implements SortStep.
#include "cpu/execute/sort_step.h"

#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

SortStep::SortStep(SortPlan plan, int64_t dimension, int64_t leading, std::vector<View> inputs,
                   std::vector<View> results)
    : plan(std::move(plan)), dimension(dimension), leading(leading), inputs(std::move(inputs)),
      results(std::move(results)) {
  derive();
}

void SortStep::derive() {
  const View &first = inputs.front();
  args.rank = static_cast<int>(first.shape.size());
  args.dimension = static_cast<int>(dimension);
  args.leading = leading;
  std::copy(first.shape.begin(), first.shape.end(), args.dims);
  for (size_t i = 0; i < inputs.size(); ++i) {
    SortOperand operand;
    operand.elementSize = inputs[i].elementSize();
    std::copy(inputs[i].strides.begin(), inputs[i].strides.end(), operand.inputStrides);
    std::copy(results[i].strides.begin(), results[i].strides.end(), operand.outputStrides);
    args.operands.push_back(operand);
  }
}

Status SortStep::run(const Frame &frame) const {
  LineSortArgs here = args;
  here.plan = &plan;
  for (size_t i = 0; i < inputs.size(); ++i) {
    here.operands[i].input = frame.at(inputs[i]);
    here.operands[i].output = frame.at(results[i]);
  }
  sortLines(frame.context, here);
  return {};
}

/// A column is an operand's elements, or computed from all operands'.
static Status checkColumn(const SortColumn &column, const std::vector<DType> &pairs) {
  DType key = column.key.type;
  TORCHERE_TRY(
      expect(byteSize(key) <= 8 && !dtypeInfo(key).isComplex, "a key of {}", dtypeInfo(key).shortName));
  if (column.program)
    return column.program->verifyLanes(pairs, {&key, 1});
  return expect(column.operand < pairs.size() / 2 && byteSize(pairs[2 * column.operand]) == byteSize(key),
                "a key of operand {}, which has other elements", column.operand);
}

Status SortStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expect(!inputs.empty() && inputs.size() == results.size(), "operands: got {} and {}",
                      inputs.size(), results.size()));
  const Sizes &shape = inputs.front().shape;
  TORCHERE_TRY(
      expect(shape.size() <= kMaxRank, "dimensions: got {}, expected at most {}", shape.size(), kMaxRank));
  TORCHERE_TRY(expectWithin("the sorted dimension", {dimension}, 0, static_cast<int64_t>(shape.size()) - 1));
  std::vector<DType> pairs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::optional<DType> type = elementTypeInfo(inputs[i].type).dtype;
    TORCHERE_TRY(expect(type.has_value(), "a sort of {}", elementTypeInfo(inputs[i].type).name));
    TORCHERE_TRY(expectShape("sizes", inputs[i].shape, shape));
    TORCHERE_TRY(expectShape("sizes", results[i].shape, shape));
    TORCHERE_TRY(limits.reads(inputs[i]));
    TORCHERE_TRY(limits.writes(results[i], *type));
    pairs.insert(pairs.end(), 2, *type);
  }
  TORCHERE_TRY(expectWithin("elements of a line", {shape[static_cast<size_t>(dimension)]}, 0,
                            std::numeric_limits<uint32_t>::max()));
  TORCHERE_TRY(expectWithin("leading elements", {leading}, 0, shape[static_cast<size_t>(dimension)]));
  for (const SortColumn &column : plan.columns)
    TORCHERE_TRY(checkColumn(column, pairs));
  DType truth = DType::Bool;
  if (plan.comparator)
    TORCHERE_TRY(plan.comparator->verifyLanes(pairs, {&truth, 1}));
  derive();
  return {};
}

} // namespace torchere::cpu
