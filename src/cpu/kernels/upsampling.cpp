// Upsampling of blocked tensors to the nearest pixel.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <type_traits>

namespace torchere::cpu {
namespace {

/// A row of pixels, each several times. `Lanes` is a constant, so that a pixel is one vector.
template <class Lanes>
void repeatPixels(const float *from, float *to, int64_t pixels, int64_t times, Lanes lanes) {
  for (int64_t x = 0; x < pixels; ++x, from += lanes)
    for (int64_t i = 0; i < times; ++i, to += lanes)
      std::memcpy(to, from, lanes * sizeof(float));
}

void repeatPixels(const BlockedTensor &tensor, const float *from, float *to, int64_t times) {
  if (tensor.lanes == 16)
    repeatPixels(from, to, tensor.width, times, std::integral_constant<int64_t, 16>());
  else if (tensor.lanes == 8)
    repeatPixels(from, to, tensor.width, times, std::integral_constant<int64_t, 8>());
  else
    repeatPixels(from, to, tensor.width, times, int64_t{tensor.lanes});
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
      repeatPixels(input, input.at(image, block) + y * inputRow, to, args.factor[1]);
      clearLanes(output, block, to, output.width);
      for (int64_t i = 1; i < args.factor[0]; ++i)
        std::memcpy(to + i * outputRow, to, output.width * output.lanes * sizeof(float));
    }
    clearHalo(output, image, block, begin * args.factor[0], end * args.factor[0]);
  });
}

} // namespace torchere::cpu
