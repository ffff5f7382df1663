// Norms over the channels of blocked tensors.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {

static constexpr int64_t kWantedParts = 16;

void normalizeChannels(const Context &context, const ChannelNormArgs &args) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  const BlockedTensor &input = args.input, &output = args.output;
  if (output.batch == 0 || output.height == 0 || output.width == 0)
    return;
  int64_t bands = std::clamp<int64_t>(divideUp(kWantedParts, output.batch), 1, output.height);
  context.pool.parallelFor(output.batch * bands, [&](int64_t part) {
    int64_t image = part / bands, begin = partBegin(output.height, bands, part % bands);
    int64_t end = partBegin(output.height, bands, part % bands + 1);
    PixelNormJob job;
    job.blockStride = input.plane();
    job.channels = input.channels;
    job.pixels = input.width;
    job.outputBlockStride = output.plane();
    job.subtractMean = args.subtractMean;
    job.epsilon = args.epsilon;
    job.scale = args.scale;
    job.bias = args.bias;
    for (int64_t y = begin; y < end; ++y) {
      job.input = input.at(image, 0) + y * input.paddedWidth() * input.lanes;
      job.output = output.at(image, 0) + y * output.paddedWidth() * output.lanes;
      kernels.normPixels(job);
      if (int64_t last = output.blocks() - 1; output.channels % output.lanes != 0)
        clearLanes(output, last, job.output + last * output.plane(), output.width);
    }
    for (int64_t block = 0; block < output.blocks(); ++block)
      clearHalo(output, image, block, begin, end);
  });
}

} // namespace torchere::cpu
