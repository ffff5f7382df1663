// Steps on tensors in blocks of channels: to and from planes, pooling, the mean of planes.
#pragma once

#include "cpu/kernels/convolution.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

/// The view's dimensions are N, C, H, W, in any strides.
PlanarTensor planarAt(const Frame &frame, const View &view);

/// From planes to blocks, or back.
class BlockedLayoutStep final : public Step {
public:
  enum class Direction { ToBlocks, FromBlocks };
  /// `tensor` is without memory; `blocked` is dense.
  BlockedLayoutStep(Direction direction, const View &planar, const BlockedTensor &tensor, const View &blocked)
      : direction(direction), planar(planar), tensor(tensor), blocked(blocked) {}
  Status run(const Frame &frame) const final;

private:
  Direction direction;
  View planar;
  BlockedTensor tensor;
  View blocked;
};

class PoolingStep final : public Step {
public:
  /// The tensors of `args` are without memory; the views are dense.
  PoolingStep(const PoolingArgs &args, const View &input, const View &result)
      : args(args), input(input), result(result) {}
  Status run(const Frame &frame) const final;

private:
  PoolingArgs args;
  View input, result;
};

class ChannelNormStep final : public Step {
public:
  /// The tensors of `args` are without memory; the views are dense. Scale and bias are whole blocks.
  ChannelNormStep(const ChannelNormArgs &args, const View &input, std::optional<View> scale,
                  std::optional<View> bias, const View &result)
      : args(args), input(input), result(result), scale(std::move(scale)), bias(std::move(bias)) {}
  Status run(const Frame &frame) const final;

private:
  ChannelNormArgs args;
  View input, result;
  std::optional<View> scale, bias;
};

/// The mean over H and W, in blocks of one pixel.
class GlobalAverageStep final : public Step {
public:
  GlobalAverageStep(const BlockedTensor &tensor, const View &input, const View &result)
      : tensor(tensor), input(input), result(result) {}
  Status run(const Frame &frame) const final;

private:
  BlockedTensor tensor;
  View input, result;
};

} // namespace torchere::cpu
