// AttentionStep: scaled dot-product attention on views.
#pragma once

#include "cpu/kernels/attention.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

class AttentionStep final : public Step {
public:
  /// `inputs` are q, k and v, [batch][head][position][element] with contiguous elements, and the mask if
  /// there is one; the result is dense, [batch][query][head][element]. `args` has neither sizes nor memory.
  AttentionStep(const AttentionArgs &args, std::vector<View> inputs, const View &result);
  Status run(const Frame &frame) const final;

private:
  AttentionArgs args;
  std::vector<View> inputs;
  View result;
};

} // namespace torchere::cpu
