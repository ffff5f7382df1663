// ConvolutionStep: a convolution whose result, and mostly whose input, lies in blocks of channels.
#pragma once

#include "cpu/execute/packed_cache.h"
#include "cpu/kernels/convolution.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

struct ConvolutionViews {
  View input;   ///< dense blocks; for a plan that reads planes: N, C, H, W, D, with a stride of 1 in W
  View weights; ///< O, I, H, W, D, in any strides
  View result;  ///< dense blocks
  View workspace;
  std::optional<View> bias;     ///< a whole number of blocks
  std::optional<View> residual; ///< dense blocks
  /// Behind the activation, of as many elements as the bias; factors and shifts or neither.
  std::optional<View> slopes, factors, shifts;
  bool addsResidualLast = false; ///< behind those
  Halo inputHalo;
  Halo residualHalo;
  Halo resultHalo;
  Activation activation = Activation::None;
  /// As in Matmul.
  std::optional<size_t> argument;
  bool isConstant = false;
};

class ConvolutionStep final : public StoredStep<ConvolutionStep> {
public:
  ConvolutionStep(const ConvolutionPlan &plan, ConvolutionViews views);
  ConvolutionStep() = default;
  static auto fields(auto &step) { return std::tie(step.plan, step.views); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "convolution"; }
  double flops() const final;
  bool packs(BufferId buffer) const final;
  Status prepare(const Frame &frame) const final;
  void addPackings(std::vector<Packing> &packings) const final;

  /// Without memory.
  static BlockedTensor inputOf(const ConvolutionPlan &plan, const Halo &halo);
  static BlockedTensor resultOf(const ConvolutionPlan &plan, const Halo &halo);

private:
  Result<Packed> packedWeights(const Frame &frame) const;

  int64_t packedBytes() const { return plan.weightElements() * int64_t(sizeof(float)); }
  Status verify(const PlanLimits &limits) const;

  ConvolutionPlan plan;
  ConvolutionViews views;
  mutable PackedCache cache;
};

} // namespace torchere::cpu
