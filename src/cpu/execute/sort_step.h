// SortStep: tensors sorted together along a dimension.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/line_sort.h"

namespace torchere::cpu {

class SortStep final : public Step {
public:
  /// By operand, all of one shape.
  SortStep(SortPlan plan, int dimension, std::vector<View> inputs, std::vector<View> results);
  Status run(const Frame &frame) const final;

private:
  SortPlan plan;
  std::vector<View> inputs, results;
  LineSortArgs args;
};

} // namespace torchere::cpu
