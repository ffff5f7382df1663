// The copies of its input that a convolution makes first.
#include "cpu/kernels/convolution_source.h"

#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/convolution_layout.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {

BlockedTensor inputWithHalo(const Context &context, const ConvolutionArgs &args) {
  const BlockedTensor &input = args.input;
  BlockedTensor wide = input;
  wide.halo = args.plan.inputHalo();
  if (input.halo.covers(wide.halo))
    return input;
  wide.data = static_cast<float *>(args.workspace);
  context.pool.parallelFor(input.batch * input.blocks(), [&](int64_t index) {
    int64_t image = index / input.blocks(), block = index % input.blocks();
    for (int64_t y = 0; y < input.height; ++y)
      std::memcpy(wide.at(image, block) + y * wide.paddedWidth() * wide.lanes,
                  input.at(image, block) + y * input.paddedWidth() * wide.lanes,
                  input.width * wide.lanes * sizeof(float));
    clearHalo(wide, image, block, 0, input.height);
  });
  return wide;
}

namespace {

constexpr int64_t kWantedParts = 16;

/// Planes with their padding.
ConvolutionSource copyPlanes(const Context &context, const ConvolutionArgs &args,
                             const ConvolutionShape &shape) {
  int64_t height = paddedExtent(shape, 0), width = paddedExtent(shape, 1);
  const int64_t *s = args.planar.strides;
  float *to = static_cast<float *>(args.workspace);
  int64_t planes = shape.inputImages() * shape.inputChannels, bands = divideUp(kWantedParts, planes);
  context.pool.parallelFor(planes * bands, [&](int64_t part) {
    int64_t plane = part / bands, band = part % bands;
    const float *from = args.planar.at(plane / shape.inputChannels) + plane % shape.inputChannels * s[1];
    for (int64_t y = partBegin(height, bands, band); y < partBegin(height, bands, band + 1); ++y) {
      float *row = to + (plane * height + y) * width;
      int64_t inY = y - shape.padding[0];
      int64_t begin = std::max<int64_t>(shape.padding[1], 0);
      int64_t end = std::min(width, shape.inputWidth + shape.padding[1]);
      if (inY < 0 || inY >= shape.inputHeight || begin >= end) {
        std::memset(row, 0, width * sizeof(float));
        continue;
      }
      std::memset(row, 0, begin * sizeof(float));
      std::memcpy(row + begin, from + inY * s[2] + begin - shape.padding[1], (end - begin) * sizeof(float));
      std::memset(row + end, 0, (width - end) * sizeof(float));
    }
  });
  int64_t plane = height * width;
  return {to, shape.inputChannels * plane, plane, width, 1, {shape.stride[0], shape.stride[1]}};
}

/// The pixels that the output reads, without those between.
ConvolutionSource copyStrided(const Context &context, const ConvolutionArgs &args,
                              const ConvolutionShape &shape) {
  const BlockedTensor &input = args.input;
  int64_t lanes = input.lanes, height = shape.outputHeight, width = shape.outputWidth,
          plane = height * width * lanes;
  float *to = static_cast<float *>(args.workspace);
  context.pool.parallelFor(input.batch * input.blocks(), [&](int64_t index) {
    const float *from = input.at(index / input.blocks(), index % input.blocks());
    for (int64_t y = 0; y < height; ++y)
      copyPixels(to + index * plane + y * width * lanes, lanes,
                 from + y * shape.stride[0] * input.paddedWidth() * lanes, shape.stride[1] * lanes, width,
                 lanes);
  });
  return {to, input.blocks() * plane, plane, width * lanes, lanes};
}

} // namespace

ConvolutionSource findSource(const Context &context, const ConvolutionArgs &args,
                             const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  if (skipsPixels(plan))
    return copyStrided(context, args, shape);
  if (plan.kind == ConvolutionKind::Planar)
    return copyPlanes(context, args, shape);
  const BlockedTensor input = inputWithHalo(context, args);
  ConvolutionSource source{input.at(0, 0), input.blocks() * input.plane(),
                           input.plane(),  input.paddedWidth() * input.lanes,
                           input.lanes,    {shape.stride[0], shape.stride[1]}};
  source.data -= shape.padding[0] * source.rowStride + shape.padding[1] * source.pixelStride;
  return source;
}

} // namespace torchere::cpu
