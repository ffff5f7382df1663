// Convolutions whose result, and mostly whose input, lies in blocks of channels: one, or one and a depthwise
// one of its result.
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
  std::optional<View> gate;      ///< of the input: a pixel of each image, dense
  Halo inputHalo;
  Halo residualHalo;
  Halo resultHalo;
  Activation activation = Activation::None;
  /// As in Matmul.
  std::optional<size_t> argument;
  bool isConstant = false;
};

/// A convolution with what it reads and writes, and its packed weights.
class PlannedConvolution {
public:
  PlannedConvolution(const ConvolutionPlan &plan, ConvolutionViews views);
  PlannedConvolution() = default;

  double flops() const;
  /// Whether the weights are packed from the buffer.
  bool packs(BufferId buffer) const { return views.argument && buffer == views.weights.buffer; }
  Status prepare(const Frame &frame) const;
  void addPackings(std::vector<Packing> &packings) const;
  Result<Packed> packedWeights(const Frame &frame) const;

  /// All but the input and the output.
  ConvolutionArgs argsAt(const Frame &frame, const Packed &weights) const;
  void addInput(const Frame &frame, ConvolutionArgs &args) const;
  void addOutput(const Frame &frame, ConvolutionArgs &args) const;

  /// The form is the one that this processor's kernels have for the shape, and what is read besides the input
  /// is there.
  Status restore(const PlanLimits &limits);
  Status verifyInput(const PlanLimits &limits) const;
  Status verifyResult(const PlanLimits &limits) const;

  ConvolutionPlan plan;
  ConvolutionViews views;

private:
  int64_t packedBytes() const { return plan.weightElements() * int64_t(sizeof(float)); }

  mutable PackedCache cache;
};

class ConvolutionStep final : public StoredStep<ConvolutionStep> {
public:
  explicit ConvolutionStep(PlannedConvolution convolution) : convolution(std::move(convolution)) {}
  ConvolutionStep() = default;
  static auto fields(auto &step) { return std::tie(step.convolution); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "convolution"; }
  double flops() const final { return convolution.flops(); }
  bool packs(BufferId buffer) const final {
    return convolution.packs(buffer) && buffer != convolution.views.input.buffer;
  }
  Status prepare(const Frame &frame) const final { return convolution.prepare(frame); }
  void addPackings(std::vector<Packing> &packings) const final { convolution.addPackings(packings); }

private:
  PlannedConvolution convolution;
};

/// A convolution and the depthwise one that alone reads its result.
class ConvolutionPairStep final : public StoredStep<ConvolutionPairStep> {
public:
  /// The first one has no result and no residual, the depthwise one no input and no workspace.
  ConvolutionPairStep(PlannedConvolution first, PlannedConvolution depthwise)
      : first(std::move(first)), depthwise(std::move(depthwise)) {}
  ConvolutionPairStep() = default;
  static auto fields(auto &step) { return std::tie(step.first, step.depthwise); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "convolution pair"; }
  double flops() const final { return first.flops() + depthwise.flops(); }
  bool packs(BufferId buffer) const final {
    return (first.packs(buffer) || depthwise.packs(buffer)) && buffer != first.views.input.buffer;
  }
  Status prepare(const Frame &frame) const final;
  void addPackings(std::vector<Packing> &packings) const final;

private:
  PlannedConvolution first, depthwise;
};

} // namespace torchere::cpu
