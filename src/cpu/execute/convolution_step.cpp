// Implements ConvolutionStep.
#include "cpu/execute/convolution_step.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace torchere::cpu {

static PlanarTensor planarAt(const Frame &frame, const View &view) {
  PlanarTensor tensor;
  tensor.data = reinterpret_cast<float *>(frame.at(view));
  std::copy(view.strides.begin(), view.strides.end(), tensor.strides);
  return tensor;
}

/// All that packConvolution() reads of a plan.
static std::string layoutOf(const ConvolutionPlan &plan, const View &weights) {
  const ConvolutionShape &shape = plan.shape;
  return fmt::format("convolution {} {} {}: {} {} {} {} {} of {} {}", int(plan.kind), int(plan.isa),
                     plan.vectors, shape.inputChannels, shape.outputChannels, shape.groups, shape.kernel[0],
                     shape.kernel[1], weights.offset, fmt::join(weights.strides, " "));
}

ConvolutionStep::ConvolutionStep(const ConvolutionPlan &plan, ConvolutionViews views)
    : plan(plan), views(std::move(views)), cache(layoutOf(this->plan, this->views.weights)) {}

BlockedTensor ConvolutionStep::inputOf(const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  return {nullptr,          shape.batch,      shape.inputChannels, shape.inputHeight,
          shape.inputWidth, plan.inputHalo(), floatLanes(plan.isa)};
}

BlockedTensor ConvolutionStep::resultOf(const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  return {nullptr,           shape.batch, shape.outputChannels, shape.outputHeight,
          shape.outputWidth, 0,           floatLanes(plan.isa)};
}

Result<std::shared_ptr<const Memory>> ConvolutionStep::packedWeights(const Frame &frame) const {
  PackedCache::Pack pack = [&]() -> Result<Memory> {
    TORCHERE_ASSIGN(Memory memory, allocateMemory(plan.weightElements() * int64_t(sizeof(float))));
    int64_t strides[4];
    std::copy(views.weights.strides.begin(), views.weights.strides.end(), strides);
    packConvolution(frame.context, plan, reinterpret_cast<const float *>(frame.at(views.weights)), strides,
                    reinterpret_cast<float *>(memory.get()));
    return memory;
  };
  if (views.isConstant)
    return cache.findConstant(pack);
  if (views.argument) {
    TORCHERE_ASSIGN(std::shared_ptr<const Memory> kept, cache.find(frame.origins[*views.argument], pack));
    if (kept)
      return kept;
  }
  TORCHERE_ASSIGN(Memory memory, pack());
  return std::make_shared<const Memory>(std::move(memory));
}

Status ConvolutionStep::run(const Frame &frame) const {
  TORCHERE_ASSIGN(std::shared_ptr<const Memory> weights, packedWeights(frame));
  ConvolutionArgs args;
  args.plan = plan;
  args.weights = reinterpret_cast<const float *>(weights->get());
  if (plan.kind == ConvolutionKind::Planar) {
    args.planar = planarAt(frame, views.input);
  } else {
    args.input = inputOf(plan);
    args.input.data = reinterpret_cast<float *>(frame.at(views.blockedInput));
    blockedFromPlanar(frame.context, planarAt(frame, views.input), args.input);
  }
  args.output = resultOf(plan);
  args.output.data = reinterpret_cast<float *>(frame.at(views.blockedResult));
  args.workspace = frame.at(views.workspace);
  convolve(frame.context, args);
  planarFromBlocked(frame.context, args.output, planarAt(frame, views.result));
  return {};
}

} // namespace torchere::cpu
