// Upsampling of blocked tensors to the nearest pixel.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <type_traits>

namespace torchere::cpu {
namespace {

/// A row of pixels, each several times, or with zeros behind it. `Lanes` is a constant, so that a pixel is
/// one vector.
template <class Lanes> void writeRow(const UpsamplingArgs &args, const float *from, float *to, Lanes lanes) {
  for (int64_t x = 0; x < args.input.width; ++x, from += lanes) {
    std::memcpy(to, from, lanes * sizeof(float));
    to += lanes;
    for (int64_t i = 1; i < args.factor[1]; ++i, to += lanes)
      if (args.fillsZeros)
        std::memset(to, 0, lanes * sizeof(float));
      else
        std::memcpy(to, from, lanes * sizeof(float));
  }
}

void writeRow(const UpsamplingArgs &args, const float *from, float *to) {
  if (args.input.lanes == 16)
    writeRow(args, from, to, std::integral_constant<int64_t, 16>());
  else if (args.input.lanes == 8)
    writeRow(args, from, to, std::integral_constant<int64_t, 8>());
  else
    writeRow(args, from, to, int64_t{args.input.lanes});
}

} // namespace

void upsample(const Context &context, const UpsamplingArgs &args) {
  const BlockedTensor &input = args.input, &output = args.output;
  int64_t inputRow = input.paddedWidth() * input.lanes, outputRow = output.paddedWidth() * output.lanes;
  BlockBands bands(output, input.height);
  context.pool.parallelFor(bands.count(), [&](int64_t part) {
    auto [image, block, begin, end] = bands.at(part);
    for (int64_t y = begin; y < end; ++y) {
      float *to = output.at(image, block) + y * args.factor[0] * outputRow;
      writeRow(args, input.at(image, block) + y * inputRow, to);
      clearLanes(output, block, to, output.width);
      for (int64_t i = 1; i < args.factor[0]; ++i)
        if (args.fillsZeros)
          std::memset(to + i * outputRow, 0, output.width * output.lanes * sizeof(float));
        else
          std::memcpy(to + i * outputRow, to, output.width * output.lanes * sizeof(float));
    }
    clearHalo(output, image, block, begin * args.factor[0], end * args.factor[0]);
  });
}

} // namespace torchere::cpu
