// Implements ConvolutionStep.
#include "cpu/execute/convolution_step.h"

#include "cpu/execute/blocked_steps.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace torchere::cpu {

/// All that packConvolution() reads of a plan.
static std::string layoutOf(const ConvolutionPlan &plan, const View &weights) {
  const ConvolutionShape &shape = plan.shape;
  return fmt::format("convolution {} {} {}: {} {} {} {} {} of {} {}", int(plan.kind), int(plan.isa),
                     plan.vectors, shape.inputChannels, shape.outputChannels, shape.groups,
                     fmt::join(shape.kernel, "x"), fmt::join(shape.phases, "x"), weights.offset,
                     fmt::join(weights.strides, " "));
}

ConvolutionStep::ConvolutionStep(const ConvolutionPlan &plan, ConvolutionViews views)
    : plan(plan), views(std::move(views)), cache(layoutOf(this->plan, this->views.weights)) {}

BlockedTensor ConvolutionStep::inputOf(const ConvolutionPlan &plan, int64_t halo) {
  const ConvolutionShape &shape = plan.shape;
  return {nullptr,          shape.batch, shape.inputChannels, shape.inputHeight,
          shape.inputWidth, halo,        floatLanes(plan.isa)};
}

BlockedTensor ConvolutionStep::resultOf(const ConvolutionPlan &plan, int64_t halo) {
  const ConvolutionShape &shape = plan.shape;
  return {nullptr,
          shape.batch,
          shape.outputChannels,
          shape.outputHeight * shape.phases[0],
          shape.outputWidth * shape.phases[1],
          halo,
          floatLanes(plan.isa)};
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

double ConvolutionStep::flops() const {
  const ConvolutionShape &shape = plan.shape;
  return 2.0 * double(shape.batch) * double(shape.outputChannels) * double(shape.outputHeight) *
         double(shape.outputWidth) * double(shape.inputChannels / shape.groups) *
         double(shape.kernel[0] * shape.kernel[1] * shape.phaseCount());
}

bool ConvolutionStep::packs(BufferId buffer) const {
  return views.argument && buffer == views.weights.buffer && buffer != views.input.buffer;
}

Status ConvolutionStep::prepare(const Frame &frame) const {
  if (views.argument && frame.origins[*views.argument].isWeight)
    TORCHERE_TRY(packedWeights(frame));
  return {};
}

Status ConvolutionStep::run(const Frame &frame) const {
  TORCHERE_ASSIGN(std::shared_ptr<const Memory> weights, packedWeights(frame));
  auto at = [&](const View &view) { return reinterpret_cast<float *>(frame.at(view)); };
  ConvolutionArgs args;
  args.plan = plan;
  args.weights = reinterpret_cast<const float *>(weights->get());
  if (plan.kind == ConvolutionKind::Planar) {
    args.planar = planarAt(frame, views.input);
  } else {
    args.input = inputOf(plan, views.inputHalo);
    args.input.data = at(views.input);
  }
  args.output = resultOf(plan, views.resultHalo);
  args.output.data = at(views.result);
  if (views.bias)
    args.epilogue.bias = at(*views.bias);
  if (views.residual) {
    args.residual = resultOf(plan, views.residualHalo);
    args.residual.data = at(*views.residual);
  }
  args.epilogue.activation = views.activation;
  args.workspace = frame.at(views.workspace);
  convolve(frame.context, args);
  return {};
}

} // namespace torchere::cpu
