// Implements SortStep.
#include "cpu/execute/sort_step.h"

#include <algorithm>

namespace torchere::cpu {

SortStep::SortStep(SortPlan plan, int dimension, std::vector<View> inputs, std::vector<View> results)
    : plan(std::move(plan)), inputs(std::move(inputs)), results(std::move(results)) {
  const View &first = this->inputs.front();
  args.rank = static_cast<int>(first.shape.size());
  args.dimension = dimension;
  std::copy(first.shape.begin(), first.shape.end(), args.dims);
  for (size_t i = 0; i < this->inputs.size(); ++i) {
    SortOperand operand;
    operand.elementSize = this->inputs[i].elementSize();
    std::copy(this->inputs[i].strides.begin(), this->inputs[i].strides.end(), operand.inputStrides);
    std::copy(this->results[i].strides.begin(), this->results[i].strides.end(), operand.outputStrides);
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

} // namespace torchere::cpu
