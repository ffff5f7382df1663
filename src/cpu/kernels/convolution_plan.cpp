// The choice of a convolution's kernel, and the packing of its weights.
#include "cpu/kernels/convolution_layout.h"
#include "cpu/kernels/grouped_convolution.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/panel_packing.h"
#include "cpu/kernels/winograd.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {

int64_t paddedExtent(const ConvolutionShape &shape, int axis) {
  int64_t output = axis == 0 ? shape.outputHeight : shape.outputWidth;
  return (output - 1) * shape.stride[axis] + (shape.kernel[axis] - 1) * shape.dilation[axis] + 1;
}

TapRange tapsInside(int64_t begin, int64_t size, int64_t kernel, int64_t dilation) {
  int64_t first = begin < 0 ? std::min(kernel, divideUp(-begin, dilation)) : 0;
  int64_t end = begin < size ? std::min(kernel, divideUp(size - begin, dilation)) : 0;
  return {first, std::max(first, end)};
}

DepthWindow::Taps DepthWindow::tapsOf(int64_t image) const {
  if (kernel * input * output == 1 && padding == 0)
    return {{0, 1}, image};
  int64_t begin = image % output * stride - padding;
  TapRange range = tapsInside(begin, input, kernel, dilation);
  int64_t place = range.first < range.end ? begin + range.first * dilation : 0;
  return {range, image / output * input + place};
}

int64_t DepthWindow::tapCount() const {
  int64_t count = 0;
  for (int64_t image = 0; image < output; ++image)
    count += tapsOf(image).range.count();
  return count;
}

Panels::Panels(const ConvolutionPlan &plan)
    : outputs(plan.shape.outputChannels / plan.shape.groups), lanes(floatLanes(plan.isa)) {
  vectorsOfGroup = divideUp(outputs, lanes);
  ofGroup = divideUp(vectorsOfGroup, plan.vectors);
  count = ofGroup * plan.shape.groups;
  fewest = ofGroup > 0 ? vectorsOfGroup / ofGroup : 0;
  wider = vectorsOfGroup - fewest * ofGroup;
}

bool skipsPixels(const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  constexpr int64_t kFewPanels = 4;
  return plan.kind == ConvolutionKind::Direct && shape.kernel[0] * shape.kernel[1] == 1 &&
         shape.stride[0] * shape.stride[1] > 1 && plan.inputHalo() == Halo() &&
         Panels(plan).count >= kFewPanels;
}

PanelBlocks::PanelBlocks(const ConvolutionPlan &plan)
    : inputs(plan.shape.inputChannels / plan.shape.groups), lanes(floatLanes(plan.isa)) {
  count = divideUp(inputs, lanes);
}

/// Whether groups are of whole blocks, or of halves of them too, of more than a block of outputs.
static bool hasBlocks(const ConvolutionShape &shape, int64_t lanes) {
  int64_t inputs = shape.inputChannels / shape.groups, outputs = shape.outputChannels / shape.groups;
  bool isWhole = inputs % lanes == 0 && outputs % lanes == 0;
  return isWhole || (inputs % (lanes / 2) == 0 && outputs % (lanes / 2) == 0 && outputs > lanes);
}

PhasePlan phasePlan(const ConvolutionPlan &plan, int64_t y, int64_t x) {
  PhasePlan phase{plan, {y, x}, {0, 0}};
  ConvolutionShape &shape = phase.plan.shape;
  for (int axis = 0; axis < 2; ++axis) {
    int64_t apart = plan.shape.phases[axis], place = plan.shape.padding[axis] - (axis == 0 ? y : x);
    int64_t tap = (place % apart + apart) % apart; // the first that meets no zero
    phase.firstTap[axis] = tap;
    shape.padding[axis] = (place - tap) / apart;
    shape.kernel[axis] = divideUp(plan.shape.kernel[axis] - tap, apart);
    shape.phases[axis] = 1;
  }
  return phase;
}

Halo widest(const Halo &a, const Halo &b) {
  return {std::max(a.rows, b.rows), std::max(a.columns, b.columns)};
}

Halo ConvolutionPlan::inputHalo() const {
  if (kind == ConvolutionKind::Planar)
    return {};
  Halo halo;
  if (shape.phaseCount() > 1) {
    eachPhase(*this, [&](const PhasePlan &phase) { halo = widest(halo, phase.plan.inputHalo()); });
    return halo;
  }
  auto along = [&](int axis, int64_t size) {
    return std::max(
        {int64_t(0), shape.padding[axis], paddedExtent(shape, axis) - shape.padding[axis] - size});
  };
  return {along(0, shape.inputHeight), along(1, shape.inputWidth)};
}

int64_t ConvolutionPlan::weightElements() const {
  if (shape.phaseCount() > 1) {
    int64_t elements = 0;
    eachPhase(*this, [&](const PhasePlan &phase) { elements += phase.plan.weightElements(); });
    return elements;
  }
  int64_t lanes = floatLanes(isa), taps = shape.kernel[0] * shape.kernel[1] * shape.depth.kernel;
  int64_t outputs = divideUp(shape.outputChannels, lanes) * lanes;
  if (kind == ConvolutionKind::Depthwise)
    return outputs * taps;
  if (kind == ConvolutionKind::Grouped)
    return outputs / lanes * groupedBlockElements(*this);
  if (kind == ConvolutionKind::Planar)
    return outputs * shape.inputChannels * taps;
  if (int64_t points = winogradPoints(kind))
    return outputs * divideUp(shape.inputChannels, lanes) * lanes * shape.depth.kernel * points;
  Panels panels(*this);
  return shape.groups * panels.vectorsOfGroup * lanes * PanelBlocks(*this).count * lanes * taps;
}

int64_t ConvolutionPlan::workspaceBytes(const Halo &actualInputHalo) const {
  if (kind == ConvolutionKind::Planar)
    return shape.inputImages() * shape.inputChannels * paddedExtent(shape, 0) * paddedExtent(shape, 1) * 4;
  if (winogradPoints(kind))
    return winogradWorkspaceBytes(*this);
  Halo halo = inputHalo();
  int64_t lanes = floatLanes(isa);
  if (skipsPixels(*this))
    return shape.inputImages() * divideUp(shape.inputChannels, lanes) * lanes * shape.outputHeight *
           shape.outputWidth * 4;
  if (actualInputHalo.covers(halo))
    return 0;
  return shape.inputImages() * divideUp(shape.inputChannels, lanes) * lanes *
         (shape.inputHeight + 2 * halo.rows) * (shape.inputWidth + 2 * halo.columns) * 4;
}

/// The vectors of a panel's tile. On AVX2 a tile of 4 x 3 loads less for each multiply-add than one of 6 x 2;
/// on AVX-512 one of 14 x 2 does well, but rows of pixels may be shorter.
static int32_t tileVectors(const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  int64_t lanes = floatLanes(plan.isa), blocks = divideUp(shape.outputChannels / shape.groups, lanes);
  bool shortRows =
      !winogradPoints(plan.kind) && shape.outputWidth <= 7 && shape.outputWidth * shape.outputHeight > 1;
  // A group of an odd number of vectors would have a panel of one, whose tiles load more than they multiply.
  bool isOdd = blocks % 2 == 1 && !(plan.isa == Isa::Avx512 && shortRows && shape.groups == 1);
  int64_t most = isOdd || plan.isa == Isa::Avx2 ? 3 : plan.isa == Isa::Avx512 && shortRows ? 4 : 2;
  return static_cast<int32_t>(std::clamp<int64_t>(blocks, 1, most));
}

ConvolutionPlan planConvolution(const ConvolutionShape &shape, Isa isa, bool planarInput, bool winograd) {
  ConvolutionPlan plan{shape, ConvolutionKind::Direct, isa, 1};
  for (int axis = 0; axis < 2; ++axis)
    if (shape.kernel[axis] == 1)
      plan.shape.dilation[axis] = 1; // there are no taps to be apart
  if (planarInput && shape.groups == 1)
    plan.kind = ConvolutionKind::Planar;
  else if (shape.isDepthwise())
    plan.kind = ConvolutionKind::Depthwise;
  else if (winograd && shape.phaseCount() == 1)
    plan.kind = winogradKind(shape);
  int64_t lanes = floatLanes(isa);
  // A panel of one vector takes each pixel again for each tap of a row of the window.
  bool isNarrow = shape.outputChannels / shape.groups == lanes && shape.kernel[1] > 1;
  if (shape.groups > 1 && plan.kind == ConvolutionKind::Direct && (!hasBlocks(shape, lanes) || isNarrow))
    plan.kind = ConvolutionKind::Grouped;
  plan.vectors = tileVectors(plan);
  if (plan.kind == ConvolutionKind::Grouped)
    plan.groupSteps = groupedStepCount(plan);
  return plan;
}

WeightPanel::WeightPanel(const ConvolutionPlan &plan, int64_t index) {
  int64_t lanes = floatLanes(plan.isa);
  Panels panels(plan);
  firstOutput = panels.begin(index) * lanes;
  columns = panels.vectors(index) * lanes;
  outputs = std::min(columns, plan.shape.outputChannels - firstOutput);
}

void gatherTaps(const ConvolutionPlan &plan, const WeightPanel &panel, const float *weights,
                const int64_t (&strides)[5], int64_t firstInput, int64_t count, float *to) {
  const IsaKernels &kernels = kernelsOf(plan.isa);
  int64_t width = plan.shape.kernel[1], taps = plan.shape.kernel[0] * width;
  int64_t present = std::clamp<int64_t>(plan.shape.inputChannels - firstInput, 0, count);
  PackArgs args{weights + panel.firstOutput * strides[0] + firstInput * strides[1],
                1,
                strides[0],
                present * taps,
                panel.outputs,
                to,
                panel.columns};
  bool isTogether = strides[1] == taps && strides[2] == width && strides[3] == 1;
  if (isTogether) {
    packPanel(kernels, kF32, sizeof(float), args);
  } else {
    const float *first = static_cast<const float *>(args.input);
    args.rows = 1;
    for (int64_t row = 0; row < present * taps; ++row) {
      int64_t tap = row % taps;
      args.input = first + row / taps * strides[1] + tap / width * strides[2] + tap % width * strides[3];
      args.output = to + row * panel.columns;
      packPanel(kernels, kF32, sizeof(float), args);
    }
  }
  std::fill(to + present * taps * panel.columns, to + count * taps * panel.columns, 0.0f);
}

namespace {

constexpr int kTaps = 0; ///< scratch

void packDepthwise(const ConvolutionPlan &plan, const float *weights, const int64_t (&strides)[5],
                   float *packed) {
  const ConvolutionShape &shape = plan.shape;
  int64_t lanes = floatLanes(plan.isa), width = shape.kernel[1], taps = shape.kernel[0] * width;
  int64_t all = taps * shape.depth.kernel;
  std::memset(packed, 0, plan.weightElements() * sizeof(float));
  for (int64_t c = 0; c < shape.outputChannels; ++c)
    for (int64_t i = 0; i < all; ++i) {
      int64_t tap = i % taps;
      packed[(c / lanes * all + i) * lanes + c % lanes] =
          weights[c * strides[0] + i / taps * strides[4] + tap / width * strides[2] +
                  tap % width * strides[3]];
    }
}

/// [tap of the depth][input channel][tap][column]
void packPlanar(const Context &context, const ConvolutionPlan &plan, const float *weights,
                const int64_t (&strides)[5], float *packed) {
  int64_t inputs = plan.shape.inputChannels, taps = plan.shape.kernel[0] * plan.shape.kernel[1];
  int64_t depth = plan.shape.depth.kernel;
  context.pool.parallelFor(Panels(plan).count, [&](int64_t index) {
    WeightPanel panel(plan, index);
    float *to = packed + panel.firstOutput * inputs * taps * depth;
    for (int64_t z = 0; z < depth; ++z, to += inputs * taps * panel.columns)
      gatherTaps(plan, panel, weights + z * strides[4], strides, 0, inputs, to);
  });
}

/// [tap of the depth][input block][tap][lane][column]
void packBlocks(const Context &context, const ConvolutionPlan &plan, const float *weights,
                const int64_t (&strides)[5], float *packed) {
  int64_t lanes = floatLanes(plan.isa), taps = plan.shape.kernel[0] * plan.shape.kernel[1];
  int64_t blocks = divideUp(plan.shape.inputChannels, lanes), depth = plan.shape.depth.kernel;
  context.pool.parallelFor(Panels(plan).count, [&](int64_t index) {
    WeightPanel panel(plan, index);
    int64_t blockElements = lanes * taps * panel.columns;
    float *to = packed + panel.firstOutput * depth * blocks * lanes * taps;
    if (taps == 1) {
      for (int64_t z = 0; z < depth; ++z, to += blocks * blockElements)
        gatherTaps(plan, panel, weights + z * strides[4], strides, 0, blocks * lanes, to);
      return;
    }
    auto *rows = static_cast<float *>(ThreadPool::scratch(blockElements * sizeof(float), kTaps));
    for (int64_t i = 0; i < depth * blocks; ++i, to += blockElements) {
      gatherTaps(plan, panel, weights + i / blocks * strides[4], strides, i % blocks * lanes, lanes, rows);
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (int64_t tap = 0; tap < taps; ++tap)
          std::memcpy(to + (tap * lanes + lane) * panel.columns, rows + (lane * taps + tap) * panel.columns,
                      panel.columns * sizeof(float));
    }
  });
}

/// The same, of the blocks that a panel's group reads. Lanes of other groups are zeros.
void packGroupedBlocks(const Context &context, const ConvolutionPlan &plan, const float *weights,
                       const int64_t (&strides)[5], float *packed) {
  const ConvolutionShape &shape = plan.shape;
  int64_t lanes = floatLanes(plan.isa), width = shape.kernel[1], taps = shape.kernel[0] * width;
  int64_t outputs = shape.outputChannels / shape.groups;
  PanelBlocks blocks(plan);
  Panels panels(plan);
  int64_t depth = blocks.count * lanes;
  context.pool.parallelFor(panels.count, [&](int64_t index) {
    int64_t group = panels.group(index), first = panels.begin(index) * lanes - group * outputs;
    int64_t columns = panels.vectors(index) * lanes;
    float *to = packed + panels.place(index) * lanes * depth * taps;
    for (int64_t i = 0; i < depth * taps; ++i, to += columns) {
      int64_t block = i / (taps * lanes), tap = i / lanes % taps, lane = i % lanes;
      int64_t input = blocks.channel(group, block, lane);
      for (int64_t column = 0; column < columns; ++column) {
        int64_t output = first + column; // in the group
        bool joined = lane < blocks.channels(block) && output >= 0 && output < outputs;
        to[column] = joined ? weights[(group * outputs + output) * strides[0] + input * strides[1] +
                                      tap / width * strides[2] + tap % width * strides[3]]
                            : 0;
      }
    }
  });
}

} // namespace

namespace {

/// One after the other.
void packPhases(const Context &context, const ConvolutionPlan &plan, const float *weights,
                const int64_t (&strides)[5], float *packed) {
  const int64_t apart[5] = {strides[0], strides[1], strides[2] * plan.shape.phases[0],
                            strides[3] * plan.shape.phases[1], strides[4]};
  eachPhase(plan, [&](const PhasePlan &phase) {
    packConvolution(context, phase.plan,
                    weights + phase.firstTap[0] * strides[2] + phase.firstTap[1] * strides[3], apart, packed);
    packed += phase.plan.weightElements();
  });
}

} // namespace

void packConvolution(const Context &context, const ConvolutionPlan &plan, const float *weights,
                     const int64_t (&strides)[5], float *packed) {
  if (plan.shape.phaseCount() > 1)
    return packPhases(context, plan, weights, strides, packed);
  switch (plan.kind) {
  case ConvolutionKind::Depthwise:
    return packDepthwise(plan, weights, strides, packed);
  case ConvolutionKind::Grouped:
    return packGrouped(plan, weights, strides, packed);
  case ConvolutionKind::Winograd2:
  case ConvolutionKind::Winograd4:
    return packWinograd(context, plan, weights, strides, packed);
  case ConvolutionKind::Planar:
    return packPlanar(context, plan, weights, strides, packed);
  case ConvolutionKind::Direct:
    return plan.shape.groups == 1 ? packBlocks(context, plan, weights, strides, packed)
                                  : packGroupedBlocks(context, plan, weights, strides, packed);
  }
}

} // namespace torchere::cpu
