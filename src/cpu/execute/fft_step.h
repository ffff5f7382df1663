// FftStep: Fourier transforms over the last dimensions.
#pragma once

#include "cpu/kernels/fft.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

enum class FftKind : uint8_t { Forward, Inverse, RealForward, RealInverse };

class FftStep final : public StoredStep<FftStep> {
public:
  /// `lengths` are those of the last dimensions of the real, or longer, side. All views are dense; `between`
  /// is like the input, and used by a RealInverse over several dimensions alone. Nothing is empty.
  FftStep(FftKind kind, Sizes lengths, const View &input, const View &result, const View &between);
  FftStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.kind, step.lengths, step.input, step.result, step.between);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "Fourier transform"; }

private:
  /// Over one dimension.
  struct Pass {
    FftPlan plan;
    FftArgs args; ///< without memory
    View from, to;
  };
  void derive();
  void addPass(size_t dimension, const View &from, const View &to);
  Status verify(const PlanLimits &limits) const;

  FftKind kind = FftKind::Forward;
  Sizes lengths;
  View input, result, between;
  std::vector<std::unique_ptr<Pass>> passes;
};

} // namespace torchere::cpu
