// Implements the steps on tensors in blocks of channels.
#include "cpu/execute/blocked_steps.h"

#include "cpu/plan/limits.h"

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
  tensor.depth = view.shape[4];
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

Status UpsamplingStep::run(const Frame &frame) const {
  UpsamplingArgs call = args;
  call.input = blockedAt(frame, args.input, input);
  call.output = blockedAt(frame, args.output, result);
  upsample(frame.context, call);
  return {};
}

Status WeightGradientStep::run(const Frame &frame) const {
  WeightGradientArgs call = args;
  call.input = blockedAt(frame, args.input, input);
  call.pixels = blockedAt(frame, args.pixels, pixels);
  call.output = reinterpret_cast<float *>(frame.at(result));
  call.workspace = frame.at(workspace);
  weightGradient(frame.context, call);
  return {};
}

/// A norm's arguments with the memory that they lack.
template <class Args>
static Args normOn(const Frame &frame, Args args, const View &input, const std::optional<View> &scale,
                   const std::optional<View> &bias, const View &result) {
  args.input = blockedAt(frame, args.input, input);
  args.output = blockedAt(frame, args.output, result);
  if (scale)
    args.scale = reinterpret_cast<const float *>(frame.at(*scale));
  if (bias)
    args.bias = reinterpret_cast<const float *>(frame.at(*bias));
  return args;
}

Status ChannelNormStep::run(const Frame &frame) const {
  normalizeChannels(frame.context, normOn(frame, args, input, scale, bias, result));
  return {};
}

Status GroupNormStep::run(const Frame &frame) const {
  normalizeGroups(frame.context, normOn(frame, args, input, scale, bias, result));
  return {};
}

Status ChannelChoiceStep::run(const Frame &frame) const {
  BlockedTensor tensors[kMostChosenInputs];
  for (size_t i = 0; i < inputs.size(); ++i)
    tensors[i] = blockedAt(frame, inputs[i].tensor, inputs[i].view);
  chooseChannels(frame.context,
                 {std::span(tensors, inputs.size()), channels, blockedAt(frame, output, result)});
  return {};
}

Status GlobalAverageStep::run(const Frame &frame) const {
  BlockedTensor mean = tensor;
  mean.batch /= depth;
  mean.height = mean.width = 1;
  mean.halo = {};
  globalAverage(frame.context, blockedAt(frame, tensor, input), blockedAt(frame, mean, result));
  return {};
}

Status checkBlocks(const BlockedTensor &tensor, Isa isa) {
  TORCHERE_TRY(expectEqual("lanes", tensor.lanes, floatLanes(isa)));
  TORCHERE_TRY(expectWithin("sizes of blocks", {tensor.batch, tensor.channels, tensor.height, tensor.width},
                            0, mostPixels));
  TORCHERE_TRY(expectWithin("halo", {tensor.halo.rows, tensor.halo.columns}, 0, mostPixels));
  int64_t elements = boundedProduct(
      {tensor.batch, tensor.blocks(), tensor.paddedHeight(), tensor.paddedWidth(), int64_t(tensor.lanes)});
  return expect(elements >= 0, "elements of blocks: expected fewer than {}", mostElements);
}

Status checkDepth(const DepthWindow &depth, int64_t images) {
  TORCHERE_TRY(expectWithin("images of an item", {depth.input, depth.output}, 1, mostPixels));
  TORCHERE_TRY(expectWithin("taps of the depth", {depth.kernel}, 1, mostWindow));
  TORCHERE_TRY(expectWithin("steps of the depth", {depth.stride, depth.dilation}, 1, mostPixels));
  TORCHERE_TRY(expectWithin("padding of the depth", {depth.padding}, 0, mostPixels));
  return expect(images % depth.output == 0, "images: got {}, expected whole items of {}", images,
                depth.output);
}

static Status readsBlocks(const PlanLimits &limits, const View &view, const BlockedTensor &tensor) {
  TORCHERE_TRY(checkBlocks(tensor, limits.isa()));
  return limits.readsDense(view, DType::F32, tensor.elements());
}

static Status writesBlocks(const PlanLimits &limits, const View &view, const BlockedTensor &tensor) {
  TORCHERE_TRY(checkBlocks(tensor, limits.isa()));
  return limits.writesDense(view, DType::F32, tensor.elements());
}

Status BlockedLayoutStep::restore(const PlanLimits &limits) {
  bool isToBlocks = direction == Direction::ToBlocks;
  TORCHERE_TRY(isToBlocks ? writesBlocks(limits, blocked, tensor) : readsBlocks(limits, blocked, tensor));
  TORCHERE_TRY(isToBlocks ? limits.reads(planar, DType::F32) : limits.writes(planar, DType::F32));
  int64_t depth = planar.shape.size() == 5 ? planar.shape[4] : 1;
  TORCHERE_TRY(expect(depth > 0 && tensor.batch % depth == 0, "images: got {}, expected whole items of {}",
                      tensor.batch, depth));
  return expectShape("planes", planar.shape,
                     {tensor.batch / depth, tensor.channels, tensor.height, tensor.width, depth});
}

Status PoolingStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(readsBlocks(limits, input, args.input));
  TORCHERE_TRY(writesBlocks(limits, result, args.output));
  TORCHERE_TRY(checkDepth(args.depth, args.output.batch));
  TORCHERE_TRY(
      expectEqual("images", args.input.batch, args.output.batch / args.depth.output * args.depth.input));
  TORCHERE_TRY(expectEqual("channels", args.output.channels, args.input.channels));
  TORCHERE_TRY(expectWithin("windows", args.kernel, 1, mostWindow));
  TORCHERE_TRY(expectWithin("taps of a window", {args.kernel[0] * args.kernel[1] * args.depth.kernel}, 1,
                            mostPooledTaps));
  TORCHERE_TRY(expectWithin("steps of windows", args.stride, 1, mostPixels));
  TORCHERE_TRY(expectWithin("dilations of windows", args.dilation, 1, mostPixels));
  return expectWithin("padding", args.padding, 0, mostPixels);
}

Status UpsamplingStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(readsBlocks(limits, input, args.input));
  TORCHERE_TRY(writesBlocks(limits, result, args.output));
  TORCHERE_TRY(expectWithin("factors", args.factor, 1, mostPixels));
  return expectShape(
      "sizes", {args.output.batch, args.output.channels, args.output.height, args.output.width},
      {args.input.batch, args.input.channels, boundedProduct({args.input.height, args.factor[0]}),
       boundedProduct({args.input.width, args.factor[1]})});
}

Status WeightGradientStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(readsBlocks(limits, input, args.input));
  TORCHERE_TRY(readsBlocks(limits, pixels, args.pixels));
  TORCHERE_TRY(expectEqual("images", args.pixels.batch, args.input.batch));
  TORCHERE_TRY(expectWithin("windows", args.kernel, 1, mostWindow));
  TORCHERE_TRY(expectWithin("steps of windows", args.stride, 1, mostPixels));
  TORCHERE_TRY(expectWithin("dilations of windows", args.dilation, 1, mostPixels));
  TORCHERE_TRY(expectWithin("padding", args.padding, 0, mostPixels));
  TORCHERE_TRY(expect(args.groups > 0 && args.input.channels % args.groups == 0 &&
                          args.pixels.channels % args.groups == 0,
                      "channels: got {} and {}, expected {} groups of as many", args.input.channels,
                      args.pixels.channels, args.groups));
  TORCHERE_TRY(expectWithin("sizes of blocks", {args.pixels.height, args.pixels.width}, 1, mostPixels));
  Halo wanted = args.inputHalo(), given = args.input.halo;
  TORCHERE_TRY(expect(given.covers(wanted), "halo: got {} rows and {} columns, expected {} and {} at least",
                      given.rows, given.columns, wanted.rows, wanted.columns));
  TORCHERE_TRY(limits.writesDense(workspace, DType::U8, args.workspaceBytes()));
  return limits.writesDense(result, DType::F32,
                            boundedProduct({args.pixels.channels, args.input.channels / args.groups,
                                            args.kernel[0], args.kernel[1]}));
}

/// Of a norm, whose result has the input's sizes. Its scale and bias have the channels, or whole blocks of
/// them.
template <class Args>
static Status checkNorm(const PlanLimits &limits, const Args &args, const View &input,
                        const std::optional<View> &scale, const std::optional<View> &bias, const View &result,
                        bool areWholeBlocks) {
  TORCHERE_TRY(readsBlocks(limits, input, args.input));
  TORCHERE_TRY(writesBlocks(limits, result, args.output));
  TORCHERE_TRY(expectShape("sizes",
                           {args.output.batch, args.output.channels, args.output.height, args.output.width},
                           {args.input.batch, args.input.channels, args.input.height, args.input.width}));
  int64_t factors = areWholeBlocks ? args.output.blocks() * args.output.lanes : args.output.channels;
  for (const std::optional<View> &each : {scale, bias})
    if (each)
      TORCHERE_TRY(limits.readsDense(*each, DType::F32, factors));
  return {};
}

Status ChannelNormStep::restore(const PlanLimits &limits) {
  return checkNorm(limits, args, input, scale, bias, result, /*areWholeBlocks=*/true);
}

Status GroupNormStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNorm(limits, args, input, scale, bias, result, /*areWholeBlocks=*/false));
  TORCHERE_TRY(expect(args.depth > 0 && args.input.batch % args.depth == 0,
                      "images: got {}, expected whole items of {}", args.input.batch, args.depth));
  return expect(args.groups > 0 && args.input.channels % args.groups == 0,
                "channels: got {}, expected {} groups of as many", args.input.channels, args.groups);
}

Status ChannelChoiceStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(writesBlocks(limits, result, output));
  TORCHERE_TRY(expectWithin("inputs", {static_cast<int64_t>(inputs.size())}, 1, kMostChosenInputs));
  int64_t count = 0;
  for (const Input &each : inputs) {
    TORCHERE_TRY(readsBlocks(limits, each.view, each.tensor));
    TORCHERE_TRY(expectShape("sizes", {each.tensor.batch, each.tensor.height, each.tensor.width},
                             {output.batch, output.height, output.width}));
    count += each.tensor.channels;
  }
  TORCHERE_TRY(expectEqual("channels", static_cast<int64_t>(channels.size()), output.channels));
  return expectWithin("places of channels", channels, 0, count - 1);
}

Status GlobalAverageStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(readsBlocks(limits, input, tensor));
  TORCHERE_TRY(expect(depth > 0 && tensor.batch % depth == 0, "images: got {}, expected whole items of {}",
                      tensor.batch, depth));
  return limits.writesDense(result, DType::F32, tensor.batch / depth * tensor.blocks() * tensor.lanes);
}

} // namespace torchere::cpu
