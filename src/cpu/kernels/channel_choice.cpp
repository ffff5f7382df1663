// Channels of blocked tensors that become those of another, in any order.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int kMostLanes = 16;

/// A block that lanes of an output block come from.
struct Source {
  const BlockedTensor *input;
  int64_t block;
  bool operator==(const Source &) const = default;
};

/// Where each lane of an output block comes from.
struct LaneSources {
  LaneSources(const ChannelChoiceArgs &args, int64_t block) {
    const BlockedTensor &output = args.output;
    lanes = static_cast<int>(std::min<int64_t>(output.lanes, output.channels - block * output.lanes));
    for (int lane = 0; lane < lanes; ++lane) {
      int64_t channel = args.channels[block * output.lanes + lane];
      const BlockedTensor *input = args.inputs.data();
      for (; channel >= input->channels; ++input)
        channel -= input->channels;
      Source source{input, channel / input->lanes};
      int found = static_cast<int>(std::find(sources, sources + count, source) - sources);
      if (found == count)
        sources[count++] = source;
      of[lane] = found;
      from[lane] = static_cast<int>(channel % input->lanes);
    }
  }

  Source sources[kMostLanes] = {};
  int count = 0;
  int lanes = 0; ///< in use
  int of[kMostLanes] = {}, from[kMostLanes] = {};
};

const float *rowsOf(const Source &source, int64_t image, int64_t row, int64_t &stride) {
  stride = source.input->paddedWidth() * source.input->lanes;
  return source.input->at(image, source.block) + row * stride;
}

/// Two sources at a time: what earlier ones gave is the first of the next two.
void chooseBlock(const ChannelChoiceArgs &args, const IsaKernels &kernels, const BlockBand &band) {
  const BlockedTensor &output = args.output;
  auto [image, block, begin, end] = band;
  LaneSources all(args, block);
  LaneChoiceJob job;
  LanesJob &pixels = job.pixels;
  pixels.rows = end - begin;
  pixels.columns = output.width;
  pixels.outputRowStride = output.paddedWidth() * output.lanes;
  pixels.output = output.at(image, block) + begin * pixels.outputRowStride;
  alignas(64) int32_t chosen[kMostLanes] = {};
  job.lanes = chosen;
  pixels.input = rowsOf(all.sources[0], image, begin, pixels.inputRowStride);
  for (int next = 1; next < std::max(all.count, 2); ++next) {
    job.second = rowsOf(all.sources[std::min(next, all.count - 1)], image, begin, job.secondRowStride);
    for (int lane = 0; lane < all.lanes; ++lane)
      if (all.of[lane] == next)
        chosen[lane] = output.lanes + all.from[lane];
      else
        chosen[lane] = next == 1 ? all.from[lane] : lane;
    kernels.chooseLanes(job);
    pixels.input = pixels.output;
    pixels.inputRowStride = pixels.outputRowStride;
  }
  for (int64_t row = 0; row < pixels.rows; ++row)
    clearLanes(output, block, pixels.output + row * pixels.outputRowStride, output.width);
  clearHalo(output, image, block, begin, end);
}

} // namespace

void chooseChannels(const Context &context, const ChannelChoiceArgs &args) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  BlockBands bands(args.output, args.output.height);
  context.pool.parallelFor(bands.count(), [&](int64_t part) { chooseBlock(args, kernels, bands.at(part)); });
}

} // namespace torchere::cpu
