// SortStep: tensors sorted together along a dimension.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/line_sort.h"

#include <tuple>

namespace torchere::cpu {

class SortStep final : public StoredStep<SortStep> {
public:
  /// By operand, all of one shape. Of a line `leading` elements are written, from the first on.
  SortStep(SortPlan plan, int64_t dimension, int64_t leading, std::vector<View> inputs,
           std::vector<View> results);
  SortStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.plan, step.dimension, step.leading, step.inputs, step.results);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "sort"; }

private:
  void derive();

  SortPlan plan;
  int64_t dimension = 0, leading = 0;
  std::vector<View> inputs, results;
  LineSortArgs args;
};

} // namespace torchere::cpu
