// Between planar and blocked tensors.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <type_traits>

namespace torchere::cpu {
namespace {

/// body(image, block, first row, end row) for parts of some rows each.
template <class Body> void eachBand(const Context &context, const BlockedTensor &tensor, const Body &body) {
  int64_t blocks = tensor.batch * tensor.blocks();
  if (blocks == 0)
    return;
  int64_t bands = std::clamp<int64_t>(divideUp(16, blocks), 1, std::max<int64_t>(tensor.height, 1));
  context.pool.parallelFor(blocks * bands, [&](int64_t part) {
    int64_t band = part % bands, block = part / bands;
    body(block / tensor.blocks(), block % tensor.blocks(), partBegin(tensor.height, bands, band),
         partBegin(tensor.height, bands, band + 1));
  });
}

/// Runs of `count` channels from place to place; whole blocks are moved by their constant size.
void copyRuns(const float *from, int64_t fromStride, float *to, int64_t toStride, int64_t places,
              int64_t count) {
  auto copy = [&](auto bytes) {
    for (int64_t i = 0; i < places; ++i)
      std::memcpy(to + i * toStride, from + i * fromStride, bytes);
  };
  if (count == 8)
    copy(std::integral_constant<size_t, 32>());
  else if (count == 16)
    copy(std::integral_constant<size_t, 64>());
  else
    copy(static_cast<size_t>(count) * sizeof(float));
}

} // namespace

void blockedFromPlanar(const Context &context, const PlanarTensor &input, const BlockedTensor &output) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  const int64_t *s = input.strides;
  eachBand(context, output, [&](int64_t image, int64_t block, int64_t begin, int64_t end) {
    int64_t channels = std::min<int64_t>(output.lanes, output.channels - block * output.lanes);
    for (int64_t y = begin; y < end; ++y) {
      const float *from = input.at(image) + block * output.lanes * s[1] + y * s[2];
      float *to = output.at(image, block) + y * output.paddedWidth() * output.lanes;
      if (s[3] == 1 && s[1] != 1)
        kernels.transpose[2](from, s[1], to, output.lanes, channels, output.width);
      else if (s[1] == 1)
        copyRuns(from, s[3], to, output.lanes, output.width, channels);
      else
        for (int64_t x = 0; x < output.width; ++x)
          for (int64_t c = 0; c < channels; ++c)
            to[x * output.lanes + c] = from[x * s[3] + c * s[1]];
      clearLanes(output, block, to, output.width);
    }
    clearHalo(output, image, block, begin, end);
  });
}

void planarFromBlocked(const Context &context, const BlockedTensor &input, const PlanarTensor &output) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  const int64_t *s = output.strides;
  eachBand(context, input, [&](int64_t image, int64_t block, int64_t begin, int64_t end) {
    int64_t channels = std::min<int64_t>(input.lanes, input.channels - block * input.lanes);
    for (int64_t y = begin; y < end; ++y) {
      const float *from = input.at(image, block) + y * input.paddedWidth() * input.lanes;
      float *to = output.at(image) + block * input.lanes * s[1] + y * s[2];
      if (s[3] == 1 && s[1] != 1)
        kernels.transpose[2](from, input.lanes, to, s[1], input.width, channels);
      else if (s[1] == 1)
        copyRuns(from, input.lanes, to, s[3], input.width, channels);
      else
        for (int64_t x = 0; x < input.width; ++x)
          for (int64_t c = 0; c < channels; ++c)
            to[x * s[3] + c * s[1]] = from[x * input.lanes + c];
    }
  });
}

} // namespace torchere::cpu
