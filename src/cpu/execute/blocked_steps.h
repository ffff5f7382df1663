// Steps on tensors in blocks of channels: to and from planes, pooling, upsampling, norms, channels in another
// order, the mean of planes.
#pragma once

#include "cpu/kernels/convolution.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

/// The view's dimensions are N, C, H, W, D, in any strides.
PlanarTensor planarAt(const Frame &frame, const View &view);

/// The blocks are this instruction set's, and their number of elements is bounded.
Status checkBlocks(const BlockedTensor &tensor, Isa isa);

/// The window is bounded, and `images` are those of a whole number of outputs.
Status checkDepth(const DepthWindow &depth, int64_t images);

/// From planes to blocks, or back.
class BlockedLayoutStep final : public StoredStep<BlockedLayoutStep> {
public:
  enum class Direction { ToBlocks, FromBlocks };
  /// `tensor` is without memory; `blocked` is dense.
  BlockedLayoutStep(Direction direction, const View &planar, const BlockedTensor &tensor, const View &blocked)
      : direction(direction), planar(planar), tensor(tensor), blocked(blocked) {}
  BlockedLayoutStep() = default;
  static auto fields(auto &step) { return std::tie(step.direction, step.planar, step.tensor, step.blocked); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "layout"; }

private:
  Direction direction = Direction::ToBlocks;
  View planar;
  BlockedTensor tensor;
  View blocked;
};

class PoolingStep final : public StoredStep<PoolingStep> {
public:
  /// The tensors of `args` are without memory; the views are dense.
  PoolingStep(const PoolingArgs &args, const View &input, const View &result)
      : args(args), input(input), result(result) {}
  PoolingStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "pooling"; }

private:
  PoolingArgs args;
  View input, result;
};

class UpsamplingStep final : public StoredStep<UpsamplingStep> {
public:
  /// The tensors of `args` are without memory; the views are dense.
  UpsamplingStep(const UpsamplingArgs &args, const View &input, const View &result)
      : args(args), input(input), result(result) {}
  UpsamplingStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "upsampling"; }

private:
  UpsamplingArgs args;
  View input, result;
};

class WeightGradientStep final : public StoredStep<WeightGradientStep> {
public:
  /// The tensors of `args` are without memory; the views are dense.
  WeightGradientStep(const WeightGradientArgs &args, const View &input, const View &pixels,
                     const View &workspace, const View &result)
      : args(args), input(input), pixels(pixels), workspace(workspace), result(result) {}
  WeightGradientStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.args, step.input, step.pixels, step.workspace, step.result);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "weight gradient"; }

private:
  WeightGradientArgs args;
  View input, pixels, workspace, result;
};

class ChannelNormStep final : public StoredStep<ChannelNormStep> {
public:
  /// The tensors of `args` are without memory; the views are dense. Scale and bias are whole blocks.
  ChannelNormStep(const ChannelNormArgs &args, const View &input, std::optional<View> scale,
                  std::optional<View> bias, const View &result)
      : args(args), input(input), result(result), scale(std::move(scale)), bias(std::move(bias)) {}
  ChannelNormStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.args, step.input, step.result, step.scale, step.bias);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "channel norm"; }

private:
  ChannelNormArgs args;
  View input, result;
  std::optional<View> scale, bias;
};

class GroupNormStep final : public StoredStep<GroupNormStep> {
public:
  /// The tensors of `args` are without memory; the views are dense. Scale and bias have the channels.
  GroupNormStep(const GroupNormArgs &args, const View &input, std::optional<View> scale,
                std::optional<View> bias, const View &result)
      : args(args), input(input), result(result), scale(std::move(scale)), bias(std::move(bias)) {}
  GroupNormStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.args, step.input, step.result, step.scale, step.bias);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "group norm"; }

private:
  GroupNormArgs args;
  View input, result;
  std::optional<View> scale, bias;
};

/// Channels of some tensors, in any order.
class ChannelChoiceStep final : public StoredStep<ChannelChoiceStep> {
public:
  struct Input {
    View view;            ///< dense
    BlockedTensor tensor; ///< without memory
  };
  ChannelChoiceStep(std::vector<Input> inputs, Sizes channels, const BlockedTensor &output,
                    const View &result)
      : inputs(std::move(inputs)), channels(std::move(channels)), output(output), result(result) {}
  ChannelChoiceStep() = default;
  static auto fields(auto &step) { return std::tie(step.inputs, step.channels, step.output, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "channels"; }

private:
  std::vector<Input> inputs;
  Sizes channels; ///< of the inputs, by channel of the output
  BlockedTensor output;
  View result;
};

/// The mean over H, W and the images of an item, in blocks of one pixel.
class GlobalAverageStep final : public StoredStep<GlobalAverageStep> {
public:
  GlobalAverageStep(const BlockedTensor &tensor, int64_t depth, const View &input, const View &result)
      : tensor(tensor), depth(depth), input(input), result(result) {}
  GlobalAverageStep() = default;
  static auto fields(auto &step) { return std::tie(step.tensor, step.depth, step.input, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "global average"; }

private:
  BlockedTensor tensor;
  int64_t depth = 1; ///< images of an item
  View input, result;
};

} // namespace torchere::cpu
