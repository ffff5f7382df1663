// Pooling of blocked tensors.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int kOffsets = 5; // scratch

/// The taps of an output position along an axis that lie in the input.
TapRange tapsOf(const PoolingArgs &args, int axis, int64_t position) {
  return tapsInside(position * args.stride[axis] - args.padding[axis],
                    axis == 0 ? args.input.height : args.input.width, args.kernel[axis], args.dilation[axis]);
}

/// One row of one block: runs of pixels with the same taps.
void poolRow(const PoolingArgs &args, const IsaKernels &kernels, int64_t image, int64_t block, int64_t y) {
  const BlockedTensor &input = args.input, &output = args.output;
  int64_t lanes = input.lanes, inputRow = input.paddedWidth() * lanes;
  int64_t window = args.depth.kernel * args.kernel[0] * args.kernel[1];
  auto *offsets = static_cast<int64_t *>(ThreadPool::scratch(window * sizeof(int64_t), kOffsets));
  auto [planes, plane] = args.depth.tapsOf(image);
  int64_t planeStep = args.depth.dilation * input.blocks() * input.plane();
  TapRange rows = tapsOf(args, 0, y);
  for (int64_t x = 0; x < output.width;) {
    TapRange columns = tapsOf(args, 1, x);
    int64_t end = x + 1;
    while (end < output.width && tapsOf(args, 1, end) == columns)
      ++end;
    TapsJob job;
    for (int64_t z = 0; z < planes.count(); ++z)
      for (int64_t i = rows.first; i < rows.end; ++i)
        for (int64_t j = columns.first; j < columns.end; ++j)
          offsets[job.tapCount++] =
              z * planeStep + i * args.dilation[0] * inputRow + j * args.dilation[1] * lanes;
    job.taps = offsets;
    job.step = args.stride[1] * lanes;
    job.pixels = end - x;
    job.input = input.at(plane, block) + (y * args.stride[0] - args.padding[0]) * inputRow +
                (x * args.stride[1] - args.padding[1]) * lanes;
    job.output = output.at(image, block) + (y * output.paddedWidth() + x) * lanes;
    int64_t count = args.countPadding ? window : job.tapCount;
    job.scale = 1.0f / static_cast<float>(count);
    (args.average ? kernels.sumPool : kernels.maxPool)(job);
    clearLanes(output, block, job.output, job.pixels);
    x = end;
  }
}

} // namespace

void pool(const Context &context, const PoolingArgs &args) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  const BlockedTensor &output = args.output;
  BlockBands bands(output, output.height);
  context.pool.parallelFor(bands.count(), [&](int64_t part) {
    auto [image, block, begin, end] = bands.at(part);
    for (int64_t y = begin; y < end; ++y)
      poolRow(args, kernels, image, block, y);
    clearHalo(output, image, block, begin, end);
  });
}

void globalAverage(const Context &context, const BlockedTensor &input, const BlockedTensor &output) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  int64_t depth = input.batch / std::max<int64_t>(output.batch, 1);
  context.pool.parallelFor(output.batch * input.blocks(), [&](int64_t index) {
    int64_t image = index / input.blocks(), block = index % input.blocks();
    float *mean = output.at(image, block);
    auto meanOf = [&](int64_t plane, float *to) {
      kernels.meanPixels(
          {input.at(plane, block), input.paddedWidth() * input.lanes, input.height, input.width, to});
    };
    meanOf(image * depth, mean);
    for (int64_t plane = 1; plane < depth; ++plane) {
      alignas(64) float next[16];
      meanOf(image * depth + plane, next);
      for (int lane = 0; lane < input.lanes; ++lane)
        mean[lane] += next[lane];
    }
    for (int lane = 0; depth > 1 && lane < input.lanes; ++lane)
      mean[lane] /= static_cast<float>(depth);
    clearLanes(output, block, mean, 1);
    clearHalo(output, image, block, 0, 1);
  });
}

} // namespace torchere::cpu
