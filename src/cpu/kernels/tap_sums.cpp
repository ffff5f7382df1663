// The gradient of a depthwise convolution's weights, from tensors in blocks of channels.
#include "cpu/kernels/convolution.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int kSums = 0; // scratch

struct PixelRange {
  int64_t begin, end;
};
/// The pixels of `count` for which a tap, which meets place x * step + offset, lies within [low, high).
PixelRange pixelsInside(int64_t offset, int64_t step, int64_t low, int64_t high, int64_t count) {
  auto firstAtLeast = [&](int64_t place) { // of the pixels
    return place <= offset ? 0 : std::min(divideUp(place - offset, step), count);
  };
  int64_t begin = firstAtLeast(low);
  return {begin, std::max(begin, firstAtLeast(high))};
}

/// Row `i` of the window, of one block of all images.
void sumRow(const IsaKernels &kernels, const TapSumsArgs &args, int64_t block, int64_t i, float *sums) {
  const BlockedTensor &input = args.input, &pixels = args.pixels;
  const int64_t lanes = input.lanes;
  TapSumsJob job;
  job.step = args.stride[1];
  job.tapStep = args.dilation[1];
  job.firstColumn = -args.padding[1];
  job.low = -input.halo.columns;
  job.high = input.width + input.halo.columns;
  job.taps = args.kernel[1];
  job.columns = pixels.width;
  job.begin = pixelsInside(job.firstColumn, job.step, job.low, job.high, job.columns).begin;
  job.end =
      pixelsInside(job.firstColumn + (job.taps - 1) * job.tapStep, job.step, job.low, job.high, job.columns)
          .end;
  job.end = std::max(job.begin, job.end);
  job.sums = sums;
  int64_t inputRow = input.paddedWidth() * lanes, offset = i * args.dilation[0] - args.padding[0];
  job.inputRowStride = args.stride[0] * inputRow;
  job.pixelsRowStride = pixels.paddedWidth() * lanes;
  PixelRange rows = pixelsInside(offset, args.stride[0], 0, input.height, pixels.height);
  job.rows = rows.end - rows.begin;
  for (int64_t image = 0; job.rows > 0 && image < pixels.batch; ++image) {
    job.input = input.at(image, block) + (rows.begin * args.stride[0] + offset) * inputRow;
    job.pixels = pixels.at(image, block) + rows.begin * job.pixelsRowStride;
    kernels.tapSums(job);
  }
}

} // namespace

void sumTaps(const Context &context, const TapSumsArgs &args) {
  const BlockedTensor &input = args.input;
  const IsaKernels &kernels = kernelsOf(context.isa);
  const int64_t lanes = input.lanes, columns = args.kernel[1], taps = args.kernel[0] * columns;
  context.pool.parallelFor(input.blocks() * args.kernel[0], [&](int64_t part) {
    int64_t block = part / args.kernel[0], i = part % args.kernel[0];
    auto *sums = static_cast<float *>(ThreadPool::scratch(columns * lanes * sizeof(float), kSums));
    std::fill_n(sums, columns * lanes, 0.0f);
    sumRow(kernels, args, block, i, sums);
    int64_t channels = std::min(lanes, input.channels - block * lanes);
    for (int64_t lane = 0; lane < channels; ++lane)
      for (int64_t j = 0; j < columns; ++j)
        args.output[(block * lanes + lane) * taps + i * columns + j] = sums[j * lanes + lane];
  });
}

} // namespace torchere::cpu
