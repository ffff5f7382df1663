// Implements ConvolutionStep and ConvolutionPairStep.
#include "cpu/execute/convolution_step.h"

#include "cpu/execute/blocked_steps.h"
#include "cpu/execute/packed_region.h"
#include "cpu/kernels/convolution_layout.h"
#include "cpu/plan/limits.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace torchere::cpu {

/// All that packConvolution() reads of a plan.
static std::string layoutOf(const ConvolutionPlan &plan, const View &weights) {
  const ConvolutionShape &shape = plan.shape;
  return fmt::format("convolution {} {} {}: {} {} {} {}x{} {} from {} of {} {}", int(plan.kind),
                     int(plan.isa), plan.vectors, shape.inputChannels, shape.outputChannels, shape.groups,
                     shape.depth.kernel, fmt::join(shape.kernel, "x"), fmt::join(shape.phases, "x"),
                     fmt::join(shape.padding, "x"), weights.offset, fmt::join(weights.strides, " "));
}

PlannedConvolution::PlannedConvolution(const ConvolutionPlan &plan, ConvolutionViews views)
    : plan(plan), views(std::move(views)), cache(layoutOf(this->plan, this->views.weights)) {}

static BlockedTensor inputOf(const ConvolutionPlan &plan, const Halo &halo) {
  const ConvolutionShape &shape = plan.shape;
  return {nullptr, shape.inputImages(), shape.inputChannels, shape.inputHeight, shape.inputWidth,
          halo,    floatLanes(plan.isa)};
}

static BlockedTensor resultOf(const ConvolutionPlan &plan, const Halo &halo) {
  const ConvolutionShape &shape = plan.shape;
  return {nullptr,
          shape.batch,
          shape.outputChannels,
          shape.outputHeight * shape.phases[0],
          shape.outputWidth * shape.phases[1],
          halo,
          floatLanes(plan.isa)};
}

Result<Packed> PlannedConvolution::packedWeights(const Frame &frame) const {
  PackedCache::Pack pack = [&]() -> Result<Packed> {
    TORCHERE_ASSIGN(std::shared_ptr<std::byte[]> memory, PackedRegion::allocate(packedBytes()));
    int64_t strides[5];
    std::copy(views.weights.strides.begin(), views.weights.strides.end(), strides);
    packConvolution(frame.context, plan, reinterpret_cast<const float *>(frame.at(views.weights)), strides,
                    reinterpret_cast<float *>(memory.get()));
    return Packed(std::move(memory));
  };
  if (views.isConstant)
    return cache.findConstant(pack);
  if (views.argument) {
    TORCHERE_ASSIGN(Packed kept, cache.find(frame.origins[*views.argument], pack));
    if (kept)
      return kept;
  }
  return pack();
}

double PlannedConvolution::flops() const {
  const ConvolutionShape &shape = plan.shape;
  return 2.0 * double(shape.batch) / double(shape.depth.output) * double(shape.depth.tapCount()) *
         double(shape.outputChannels) * double(shape.outputHeight) * double(shape.outputWidth) *
         double(shape.inputChannels / shape.groups) * double(shape.kernel[0] * shape.kernel[1]);
}

void PlannedConvolution::addPackings(std::vector<Packing> &packings) const {
  if (views.argument)
    packings.push_back({*views.argument, cache.layoutName(), packedBytes()});
}

Status PlannedConvolution::prepare(const Frame &frame) const {
  if (views.argument && frame.origins[*views.argument].isWeight)
    TORCHERE_TRY(packedWeights(frame));
  return {};
}

static float *floatsAt(const Frame &frame, const View &view) {
  return reinterpret_cast<float *>(frame.at(view));
}

ConvolutionArgs PlannedConvolution::argsAt(const Frame &frame, const Packed &weights) const {
  ConvolutionArgs args;
  args.plan = plan;
  args.weights = reinterpret_cast<const float *>(weights.get());
  if (views.bias)
    args.epilogue.bias = floatsAt(frame, *views.bias);
  if (views.residual) {
    args.residual = resultOf(plan, views.residualHalo);
    args.residual.data = floatsAt(frame, *views.residual);
  }
  args.addsResidualLast = views.addsResidualLast;
  if (views.slopes)
    args.slopes = floatsAt(frame, *views.slopes);
  if (views.factors) {
    args.factors = floatsAt(frame, *views.factors);
    args.shifts = floatsAt(frame, *views.shifts);
  }
  args.epilogue.activation = views.activation;
  if (views.gate)
    args.gate = floatsAt(frame, *views.gate);
  return args;
}

void PlannedConvolution::addInput(const Frame &frame, ConvolutionArgs &args) const {
  args.workspace = frame.at(views.workspace);
  if (plan.kind == ConvolutionKind::Planar) {
    args.planar = planarAt(frame, views.input);
  } else {
    args.input = inputOf(plan, views.inputHalo);
    args.input.data = floatsAt(frame, views.input);
  }
}

void PlannedConvolution::addOutput(const Frame &frame, ConvolutionArgs &args) const {
  args.output = resultOf(plan, views.resultHalo);
  args.output.data = floatsAt(frame, views.result);
}

Status ConvolutionStep::run(const Frame &frame) const {
  TORCHERE_ASSIGN(Packed weights, convolution.packedWeights(frame));
  ConvolutionArgs args = convolution.argsAt(frame, weights);
  convolution.addInput(frame, args);
  convolution.addOutput(frame, args);
  convolve(frame.context, args);
  return {};
}

Status ConvolutionPairStep::run(const Frame &frame) const {
  TORCHERE_ASSIGN(Packed weights, first.packedWeights(frame));
  TORCHERE_ASSIGN(Packed windows, depthwise.packedWeights(frame));
  ConvolutionArgs ofFirst = first.argsAt(frame, weights), ofDepthwise = depthwise.argsAt(frame, windows);
  first.addInput(frame, ofFirst);
  depthwise.addOutput(frame, ofDepthwise);
  convolvePair(frame.context, ofFirst, ofDepthwise);
  return {};
}

Status ConvolutionPairStep::prepare(const Frame &frame) const {
  TORCHERE_TRY(first.prepare(frame));
  return depthwise.prepare(frame);
}

void ConvolutionPairStep::addPackings(std::vector<Packing> &packings) const {
  first.addPackings(packings);
  depthwise.addPackings(packings);
}

/// Also of those that are the same number in memory.
static constexpr int64_t mostWeights = int64_t(1) << 31;

/// Images of an item: whole items, and taps that all kernels of the form have.
static Status checkDepth(const ConvolutionShape &shape) {
  const DepthWindow &depth = shape.depth;
  TORCHERE_TRY(checkDepth(depth, shape.batch));
  return expect(depth.kernel == 1 || (shape.phaseCount() == 1 && (shape.groups == 1 || shape.isDepthwise())),
                "{} taps of the depth: got {} groups and {} phases, expected 1", depth.kernel, shape.groups,
                shape.phaseCount());
}

/// Before anything is computed with it.
static Status checkShape(const ConvolutionShape &shape) {
  TORCHERE_TRY(expectWithin("images", {shape.batch}, 0, mostPixels));
  TORCHERE_TRY(
      expectWithin("channels", {shape.inputChannels, shape.outputChannels, shape.groups}, 1, mostPixels));
  TORCHERE_TRY(expectWithin("pixels", {shape.inputHeight, shape.inputWidth}, 0, mostPixels));
  TORCHERE_TRY(expectWithin("pixels", {shape.outputHeight, shape.outputWidth}, 1, mostPixels));
  TORCHERE_TRY(expectWithin("kernel", shape.kernel, 1, mostWindow));
  TORCHERE_TRY(expectWithin("steps of the kernel", shape.stride, 1, mostPixels));
  TORCHERE_TRY(expectWithin("dilations of the kernel", shape.dilation, 1, mostPixels));
  TORCHERE_TRY(expectWithin("padding", shape.padding, 0, mostPixels));
  TORCHERE_TRY(expectWithin("phases", shape.phases, 1, mostWindow));
  for (int axis = 0; axis < 2; ++axis)
    TORCHERE_TRY(expect(shape.kernel[axis] > 1 || shape.dilation[axis] == 1,
                        "dilation of one tap: got {}, expected 1", shape.dilation[axis]));
  TORCHERE_TRY(expect(shape.inputChannels % shape.groups == 0 && shape.outputChannels % shape.groups == 0,
                      "groups: got {} for {} and {} channels", shape.groups, shape.inputChannels,
                      shape.outputChannels));
  TORCHERE_TRY(checkDepth(shape));
  int64_t weights = boundedProduct({shape.inputChannels / shape.groups, shape.outputChannels, shape.kernel[0],
                                    shape.kernel[1], shape.depth.kernel});
  TORCHERE_TRY(expectWithin("weights", {weights}, 1, mostWeights));
  bool isPlain =
      shape.stride[0] * shape.stride[1] * shape.dilation[0] * shape.dilation[1] * shape.groups == 1;
  for (int axis = 0; axis < 2 && shape.phaseCount() > 1; ++axis)
    TORCHERE_TRY(expect(isPlain && shape.phases[axis] <= shape.kernel[axis],
                        "{} phases of {} taps, which are all that there is", shape.phases[axis],
                        shape.kernel[axis]));
  return {};
}

/// What it may copy its input to.
static Status checkWorkspace(const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  Halo halo = plan.inputHalo();
  TORCHERE_TRY(expectWithin("halo", {halo.rows, halo.columns}, 0, mostPixels));
  int64_t height = shape.inputHeight + 2 * halo.rows, width = shape.inputWidth + 2 * halo.columns;
  if (plan.kind == ConvolutionKind::Planar) {
    height = paddedExtent(shape, 0);
    width = paddedExtent(shape, 1);
  }
  int64_t channels = shape.inputChannels + floatLanes(plan.isa);
  return expect(boundedProduct({shape.inputImages(), channels, height, width}) >= 0,
                "a copy of the input: expected fewer than {} elements", mostElements);
}

Status PlannedConvolution::verifyInput(const PlanLimits &limits) const {
  const ConvolutionShape &shape = plan.shape;
  bool isPlanar = plan.kind == ConvolutionKind::Planar;
  if (isPlanar) {
    TORCHERE_TRY(limits.reads(views.input, DType::F32));
    TORCHERE_TRY(expectShape("the input", views.input.shape,
                             {shape.batch / shape.depth.output, shape.inputChannels, shape.inputHeight,
                              shape.inputWidth, shape.depth.input}));
    TORCHERE_TRY(
        expect(shape.inputWidth <= 1 || views.input.strides[3] == 1, "a row of the input with gaps"));
  } else {
    BlockedTensor input = inputOf(plan, views.inputHalo);
    TORCHERE_TRY(checkBlocks(input, limits.isa()));
    TORCHERE_TRY(limits.readsDense(views.input, DType::F32, input.elements()));
  }
  return limits.writesDense(views.workspace, DType::U8,
                            plan.workspaceBytes(isPlanar ? Halo() : views.inputHalo));
}

Status PlannedConvolution::verifyResult(const PlanLimits &limits) const {
  return limits.writesDense(views.result, DType::F32, resultOf(plan, views.resultHalo).elements());
}

/// Weights, what belongs to each channel, and the residual.
static Status verifyOperands(const ConvolutionPlan &plan, const ConvolutionViews &views,
                             const PlanLimits &limits) {
  const ConvolutionShape &shape = plan.shape;
  BlockedTensor result = resultOf(plan, views.resultHalo);
  TORCHERE_TRY(checkBlocks(result, limits.isa()));
  TORCHERE_TRY(limits.packs(views.weights, DType::F32, views.argument, views.isConstant));
  TORCHERE_TRY(expectShape("weights", views.weights.shape,
                           {shape.outputChannels, shape.inputChannels / shape.groups, shape.kernel[0],
                            shape.kernel[1], shape.depth.kernel}));
  for (const std::optional<View> *channels : {&views.bias, &views.slopes, &views.factors, &views.shifts})
    if (*channels)
      TORCHERE_TRY(limits.readsDense(**channels, DType::F32, result.blocks() * result.lanes));
  TORCHERE_TRY(expect(views.factors.has_value() == views.shifts.has_value(),
                      "factors of channels without shifts, or shifts without factors"));
  TORCHERE_TRY(expect(views.residual || !views.addsResidualLast, "a residual to be added last: got none"));
  if (views.residual) {
    BlockedTensor residual = resultOf(plan, views.residualHalo);
    TORCHERE_TRY(checkBlocks(residual, limits.isa()));
    TORCHERE_TRY(limits.readsDense(*views.residual, DType::F32, residual.elements()));
  }
  if (views.gate) {
    TORCHERE_TRY(expect(canGate(plan), "a gate of a convolution that takes none"));
    BlockedTensor pixels = inputOf(plan, {});
    TORCHERE_TRY(limits.readsDense(*views.gate, DType::F32, pixels.batch * pixels.blocks() * pixels.lanes));
  }
  return {};
}

Status PlannedConvolution::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkShape(plan.shape));
  ConvolutionPlan expected =
      planConvolution(plan.shape, limits.isa(), plan.kind == ConvolutionKind::Planar,
                      plan.kind == ConvolutionKind::Winograd2 || plan.kind == ConvolutionKind::Winograd4);
  bool hasPhases = plan.shape.phaseCount() > 1;
  TORCHERE_TRY(expect(plan.kind == expected.kind && (!hasPhases || plan.kind == ConvolutionKind::Direct),
                      "a convolution of this shape: got the form {}, expected {}", int(plan.kind),
                      int(expected.kind)));
  plan = expected;
  TORCHERE_TRY(checkWorkspace(plan));
  TORCHERE_TRY(verifyOperands(plan, views, limits));
  cache = PackedCache(layoutOf(plan, views.weights));
  return {};
}

Status ConvolutionStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(convolution.restore(limits));
  TORCHERE_TRY(convolution.verifyInput(limits));
  return convolution.verifyResult(limits);
}

Status ConvolutionPairStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(first.restore(limits));
  TORCHERE_TRY(depthwise.restore(limits));
  TORCHERE_TRY(expect(canJoin(first.plan, depthwise.plan) && !first.views.residual && !first.views.gate,
                      "a convolution and a depthwise one of its result: got others"));
  TORCHERE_TRY(first.verifyInput(limits));
  return depthwise.verifyResult(limits);
}

} // namespace torchere::cpu
