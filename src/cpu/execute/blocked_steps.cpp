// Implements the steps on tensors in blocks of channels.
#include "cpu/execute/blocked_steps.h"

#include <algorithm>

namespace torchere::cpu {

static BlockedTensor blockedAt(const Frame &frame, BlockedTensor tensor, const View &view) {
  tensor.data = reinterpret_cast<float *>(frame.at(view));
  return tensor;
}

PlanarTensor planarAt(const Frame &frame, const View &view) {
  PlanarTensor tensor;
  tensor.data = reinterpret_cast<float *>(frame.at(view));
  std::copy(view.strides.begin(), view.strides.end(), tensor.strides);
  return tensor;
}

Status BlockedLayoutStep::run(const Frame &frame) const {
  BlockedTensor blocks = blockedAt(frame, tensor, blocked);
  if (direction == Direction::ToBlocks)
    blockedFromPlanar(frame.context, planarAt(frame, planar), blocks);
  else
    planarFromBlocked(frame.context, blocks, planarAt(frame, planar));
  return {};
}

Status PoolingStep::run(const Frame &frame) const {
  PoolingArgs call = args;
  call.input = blockedAt(frame, args.input, input);
  call.output = blockedAt(frame, args.output, result);
  pool(frame.context, call);
  return {};
}

Status ChannelNormStep::run(const Frame &frame) const {
  ChannelNormArgs call = args;
  call.input = blockedAt(frame, args.input, input);
  call.output = blockedAt(frame, args.output, result);
  if (scale)
    call.scale = reinterpret_cast<const float *>(frame.at(*scale));
  if (bias)
    call.bias = reinterpret_cast<const float *>(frame.at(*bias));
  normalizeChannels(frame.context, call);
  return {};
}

Status GlobalAverageStep::run(const Frame &frame) const {
  BlockedTensor mean = tensor;
  mean.height = mean.width = 1;
  mean.halo = 0;
  globalAverage(frame.context, blockedAt(frame, tensor, input), blockedAt(frame, mean, result));
  return {};
}

} // namespace torchere::cpu
