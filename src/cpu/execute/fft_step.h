// FftStep: Fourier transforms over the last dimensions.
#pragma once

#include "cpu/kernels/fft.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

enum class FftKind : uint8_t { Forward, Inverse, RealForward, RealInverse };

class FftStep final : public Step {
public:
  /// `lengths` are those of the last dimensions of the real, or longer, side. All views are dense; `between`
  /// is like the input, and used by a RealInverse over several dimensions alone. Nothing is empty.
  FftStep(FftKind kind, const Sizes &lengths, const View &input, const View &result, const View &between);
  Status run(const Frame &frame) const final;

private:
  /// Over one dimension.
  struct Pass {
    FftPlan plan;
    FftArgs args; ///< without memory
    View from, to;
  };
  void addPass(size_t dimension, const View &from, const View &to);

  FftKind kind;
  std::vector<std::unique_ptr<Pass>> passes;
};

} // namespace torchere::cpu
