// AttentionStep: scaled dot-product attention on views.
#pragma once

#include "cpu/kernels/attention.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class AttentionStep final : public StoredStep<AttentionStep> {
public:
  /// `inputs` are q, k and v, [batch][head][position][element] with contiguous elements, and the mask if
  /// there is one; the result is dense, [batch][query][head][element]. `args` has neither sizes nor memory.
  AttentionStep(const AttentionArgs &args, std::vector<View> inputs, const View &result);
  AttentionStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.inputs, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "attention"; }
  double flops() const final;

private:
  void derive();

  AttentionArgs args;
  std::vector<View> inputs;
  View result;
};

} // namespace torchere::cpu
