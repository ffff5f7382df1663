// Pooling of blocked tensors.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int kOffsets = 5; // scratch
constexpr int64_t kWantedParts = 16;

/// The taps of an output position along an axis that lie in the input: [first, end).
struct Taps {
  int64_t first, end;
};
Taps tapsOf(const PoolingArgs &args, int axis, int64_t position) {
  int64_t size = axis == 0 ? args.input.height : args.input.width, step = args.dilation[axis];
  int64_t begin = position * args.stride[axis] - args.padding[axis];
  int64_t first = begin < 0 ? divideUp(-begin, step) : 0;
  int64_t end = begin < size ? std::min(args.kernel[axis], divideUp(size - begin, step)) : 0;
  return {first, std::max(first, end)};
}

/// One row of one block: runs of pixels with the same taps.
void poolRow(const PoolingArgs &args, const IsaKernels &kernels, int64_t image, int64_t block, int64_t y) {
  const BlockedTensor &input = args.input, &output = args.output;
  int64_t lanes = input.lanes, inputRow = input.paddedWidth() * lanes;
  auto *offsets = static_cast<int64_t *>(
      ThreadPool::scratch(args.kernel[0] * args.kernel[1] * sizeof(int64_t), kOffsets));
  Taps rows = tapsOf(args, 0, y);
  for (int64_t x = 0; x < output.width;) {
    Taps columns = tapsOf(args, 1, x);
    int64_t end = x + 1;
    for (; end < output.width; ++end) {
      Taps next = tapsOf(args, 1, end);
      if (next.first != columns.first || next.end != columns.end)
        break;
    }
    TapsJob job;
    for (int64_t i = rows.first; i < rows.end; ++i)
      for (int64_t j = columns.first; j < columns.end; ++j)
        offsets[job.tapCount++] = i * args.dilation[0] * inputRow + j * args.dilation[1] * lanes;
    job.taps = offsets;
    job.step = args.stride[1] * lanes;
    job.pixels = end - x;
    job.input = input.at(image, block) + (y * args.stride[0] - args.padding[0]) * inputRow +
                (x * args.stride[1] - args.padding[1]) * lanes;
    job.output = output.at(image, block) + (y * output.paddedWidth() + x) * lanes;
    int64_t count = args.countPadding ? args.kernel[0] * args.kernel[1] : job.tapCount;
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
  int64_t planes = output.batch * output.blocks();
  if (planes == 0 || output.height == 0)
    return;
  int64_t bands = std::clamp<int64_t>(divideUp(kWantedParts, planes), 1, output.height);
  context.pool.parallelFor(planes * bands, [&](int64_t part) {
    int64_t image = part / bands / output.blocks(), block = part / bands % output.blocks();
    int64_t begin = partBegin(output.height, bands, part % bands);
    int64_t end = partBegin(output.height, bands, part % bands + 1);
    for (int64_t y = begin; y < end; ++y)
      poolRow(args, kernels, image, block, y);
    clearHalo(output, image, block, begin, end);
  });
}

void globalAverage(const Context &context, const BlockedTensor &input, const BlockedTensor &output) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  context.pool.parallelFor(input.batch * input.blocks(), [&](int64_t index) {
    int64_t image = index / input.blocks(), block = index % input.blocks();
    float *mean = output.at(image, block);
    kernels.meanPixels(
        {input.at(image, block), input.paddedWidth() * input.lanes, input.height, input.width, mean});
    clearLanes(output, block, mean, 1);
    clearHalo(output, image, block, 0, 1);
  });
}

} // namespace torchere::cpu
