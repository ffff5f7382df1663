// ReduceStep: a reduction of one tensor over some of its dimensions.
#pragma once

#include "cpu/kernels/reduction.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class ReduceStep final : public StoredStep<ReduceStep> {
public:
  /// The result is dense. Unimplemented if there are too many dimensions.
  static Result<std::unique_ptr<const Step>> create(Reduction reduction, DType type, const View &input,
                                                    const View &initial, const View &result,
                                                    std::span<const int64_t> dimensions);
  ReduceStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.initial, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "reduce"; }

private:
  void derive();

  ReductionArgs args;
  View input, initial, result;
};

} // namespace torchere::cpu
