// The choice of a convolution's kernel, and the packing of its weights.
#include "cpu/kernels/convolution_layout.h"
#include "cpu/kernels/grouped_convolution.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/winograd.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {

int64_t paddedExtent(const ConvolutionShape &shape, int axis) {
  int64_t output = axis == 0 ? shape.outputHeight : shape.outputWidth;
  return (output - 1) * shape.stride[axis] + (shape.kernel[axis] - 1) * shape.dilation[axis] + 1;
}

PanelBlocks panelBlocks(const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  int64_t lanes = floatLanes(plan.isa), width = plan.vectors * lanes;
  PanelBlocks result;
  result.panels = divideUp(shape.outputChannels, width);
  result.total = divideUp(shape.inputChannels, lanes);
  int64_t inputs = shape.inputChannels / shape.groups, outputs = shape.outputChannels / shape.groups;
  for (int64_t panel = 0; panel < result.panels; ++panel) {
    int64_t last = std::min((panel + 1) * width, shape.outputChannels) - 1;
    int64_t first = panel * width / outputs * inputs / lanes,
            end = divideUp((last / outputs + 1) * inputs, lanes);
    result.count = std::max(result.count, end - first);
  }
  return result;
}

int64_t PanelBlocks::first(const ConvolutionPlan &plan, int64_t panel) const {
  const ConvolutionShape &shape = plan.shape;
  int64_t lanes = floatLanes(plan.isa);
  int64_t group = panel * plan.vectors * lanes / (shape.outputChannels / shape.groups);
  return std::min(group * (shape.inputChannels / shape.groups) / lanes, total - count);
}

int64_t ConvolutionPlan::inputHalo() const {
  if (kind == ConvolutionKind::Planar)
    return 0;
  int64_t halo = 0;
  for (int axis = 0; axis < 2; ++axis) {
    int64_t size = axis == 0 ? shape.inputHeight : shape.inputWidth;
    halo = std::max({halo, shape.padding[axis], paddedExtent(shape, axis) - shape.padding[axis] - size});
  }
  return halo;
}

int64_t ConvolutionPlan::weightElements() const {
  int64_t lanes = floatLanes(isa), taps = shape.kernel[0] * shape.kernel[1];
  int64_t outputs = divideUp(shape.outputChannels, lanes) * lanes;
  if (kind == ConvolutionKind::Depthwise)
    return outputs * taps;
  if (kind == ConvolutionKind::Grouped)
    return outputs / lanes * groupedBlockElements(*this);
  if (kind == ConvolutionKind::Planar)
    return outputs * shape.inputChannels * taps;
  if (int64_t points = winogradPoints(kind))
    return outputs * divideUp(shape.inputChannels, lanes) * lanes * points;
  return outputs * panelBlocks(*this).count * lanes * taps;
}

int64_t ConvolutionPlan::workspaceBytes(int64_t actualInputHalo) const {
  if (kind == ConvolutionKind::Planar)
    return shape.batch * shape.inputChannels * paddedExtent(shape, 0) * paddedExtent(shape, 1) * 4;
  if (winogradPoints(kind))
    return winogradWorkspaceBytes(*this);
  int64_t halo = inputHalo();
  if (actualInputHalo >= halo)
    return 0;
  int64_t lanes = floatLanes(isa);
  return shape.batch * divideUp(shape.inputChannels, lanes) * lanes * (shape.inputHeight + 2 * halo) *
         (shape.inputWidth + 2 * halo) * 4;
}

ConvolutionPlan planConvolution(const ConvolutionShape &shape, Isa isa, bool planarInput, bool winograd) {
  ConvolutionPlan plan{shape, ConvolutionKind::Direct, isa, 1};
  bool depthwise =
      shape.groups == shape.inputChannels && shape.groups == shape.outputChannels && shape.groups > 1;
  if (planarInput && shape.groups == 1)
    plan.kind = ConvolutionKind::Planar;
  else if (depthwise)
    plan.kind = ConvolutionKind::Depthwise;
  else if (winograd)
    plan.kind = winogradKind(shape);
  // Tiles of two vectors have the most rows; of four where rows of pixels are short. An odd rest is a
  // narrower tile.
  int64_t blocks = divideUp(shape.outputChannels, floatLanes(isa));
  bool wide = isa == Isa::Avx512;
  if (winogradPoints(plan.kind)) {
    plan.vectors = blocks >= 2 ? 2 : 1;
    return plan;
  }
  if (blocks == 3)
    plan.vectors = 3;
  else if (blocks >= 4 && wide && shape.outputWidth <= 7 && shape.outputWidth * shape.outputHeight > 1)
    plan.vectors = 4;
  else if (blocks >= 2)
    plan.vectors = 2;
  if (shape.groups > 1 && plan.kind == ConvolutionKind::Direct) {
    // A tile must not multiply the numbers of other groups, be it by zeros.
    int64_t lanes = floatLanes(isa), outputs = shape.outputChannels / shape.groups;
    if (outputs % (plan.vectors * lanes) != 0)
      plan.vectors = 1;
    if (outputs % lanes != 0 || shape.inputChannels / shape.groups % lanes != 0)
      plan.kind = ConvolutionKind::Grouped;
    if (plan.kind == ConvolutionKind::Grouped)
      plan.groupSteps = groupedStepCount(plan);
  }
  return plan;
}

void packConvolution(const Context &context, const ConvolutionPlan &plan, const float *weights,
                     const int64_t (&strides)[4], float *packed) {
  const ConvolutionShape &shape = plan.shape;
  int64_t lanes = floatLanes(plan.isa), height = shape.kernel[0], width = shape.kernel[1],
          taps = height * width;
  int64_t outputs = shape.outputChannels / shape.groups, inputs = shape.inputChannels / shape.groups;
  if (plan.kind == ConvolutionKind::Depthwise) {
    std::memset(packed, 0, plan.weightElements() * sizeof(float));
    for (int64_t c = 0; c < shape.outputChannels; ++c)
      for (int64_t tap = 0; tap < taps; ++tap)
        packed[(c / lanes * taps + tap) * lanes + c % lanes] =
            weights[c * strides[0] + tap / width * strides[2] + tap % width * strides[3]];
    return;
  }
  if (plan.kind == ConvolutionKind::Grouped)
    return packGrouped(plan, weights, strides, packed);
  if (winogradPoints(plan.kind))
    return packWinograd(context, plan, weights, strides, packed);
  bool planar = plan.kind == ConvolutionKind::Planar;
  PanelBlocks blocks = panelBlocks(plan);
  int64_t total = divideUp(shape.outputChannels, lanes),
          depth = planar ? shape.inputChannels : blocks.count * lanes;
  context.pool.parallelFor(blocks.panels, [&](int64_t panel) {
    int64_t columns = std::min<int64_t>(plan.vectors, total - panel * plan.vectors) * lanes;
    float *to = packed + panel * plan.vectors * lanes * depth * taps;
    // [input block][tap][lane][column], or [input channel][tap][column].
    for (int64_t i = 0; i < depth * taps; ++i) {
      int64_t input = planar ? i / taps : i / (taps * lanes) * lanes + i % lanes;
      int64_t tap = planar ? i % taps : i / lanes % taps;
      input += planar ? 0 : blocks.first(plan, panel) * lanes;
      for (int64_t column = 0; column < columns; ++column) {
        int64_t output = panel * plan.vectors * lanes + column, inside = input - output / outputs * inputs;
        bool joined =
            output < shape.outputChannels && input < shape.inputChannels && inside >= 0 && inside < inputs;
        to[i * columns + column] = joined ? weights[output * strides[0] + inside * strides[1] +
                                                    tap / width * strides[2] + tap % width * strides[3]]
                                          : 0;
      }
    }
  });
}

} // namespace torchere::cpu
