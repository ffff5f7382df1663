// Between planar and blocked tensors.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <type_traits>

namespace torchere::cpu {
namespace {

/// Blocks whose channels of a pixel are moved together: so many lines of memory are written, or read, at
/// once.
constexpr int64_t kGroup = 8;

/// body(image, first block, end block, first row, end row) for parts of some rows each of `group` blocks.
template <class Body>
void eachBand(const Context &context, const BlockedTensor &tensor, int64_t group, const Body &body) {
  int64_t groups = divideUp(tensor.blocks(), group), all = tensor.batch * groups;
  if (all == 0)
    return;
  int64_t bands = std::clamp<int64_t>(divideUp(16, all), 1, std::max<int64_t>(tensor.height, 1));
  context.pool.parallelFor(all * bands, [&](int64_t part) {
    int64_t band = part % bands, first = part / bands % groups * group;
    body(part / bands / groups, first, std::min(first + group, tensor.blocks()),
         partBegin(tensor.height, bands, band), partBegin(tensor.height, bands, band + 1));
  });
}

int64_t channelsOf(const BlockedTensor &tensor, int64_t block) {
  return std::min<int64_t>(tensor.lanes, tensor.channels - block * tensor.lanes);
}

/// A row of pixels, whose channels follow each other in the planar tensor, to or from blocks, which lie
/// `blockStride` apart there.
class PixelRow {
public:
  PixelRow(const BlockedTensor &tensor, int64_t firstBlock, int64_t endBlock, int64_t pixelStride)
      : width_(tensor.width), blocks_(endBlock - firstBlock), lanes_(tensor.lanes),
        last_(channelsOf(tensor, endBlock - 1)), pixelStride_(pixelStride),
        blockStride_(tensor.at(0, 1) - tensor.at(0, 0)) {}

  void toBlocks(const float *pixels, float *blocks) const {
    eachRun([&](int64_t pixel, int64_t block, auto bytes) {
      std::memcpy(blocks + block * blockStride_ + pixel * lanes_,
                  pixels + pixel * pixelStride_ + block * lanes_, bytes);
    });
  }
  void fromBlocks(const float *blocks, float *pixels) const {
    eachRun([&](int64_t pixel, int64_t block, auto bytes) {
      std::memcpy(pixels + pixel * pixelStride_ + block * lanes_,
                  blocks + block * blockStride_ + pixel * lanes_, bytes);
    });
  }

private:
  /// Whole blocks are moved by their constant size.
  template <class Move> void eachRun(const Move &move) const {
    if (lanes_ == 8)
      eachPixel(move, std::integral_constant<size_t, 32>());
    else if (lanes_ == 16)
      eachPixel(move, std::integral_constant<size_t, 64>());
    else
      eachPixel(move, static_cast<size_t>(lanes_) * sizeof(float));
  }
  template <class Move, class Bytes> void eachPixel(const Move &move, Bytes bytes) const {
    bool isWhole = last_ == lanes_;
    for (int64_t pixel = 0; pixel < width_; ++pixel) {
      for (int64_t block = 0; block < blocks_ - !isWhole; ++block)
        move(pixel, block, bytes);
      if (!isWhole)
        move(pixel, blocks_ - 1, static_cast<size_t>(last_) * sizeof(float));
    }
  }

  int64_t width_, blocks_, lanes_, last_, pixelStride_, blockStride_;
};

} // namespace

void blockedFromPlanar(const Context &context, const PlanarTensor &input, const BlockedTensor &output) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  const int64_t *s = input.strides;
  bool byPixels = s[1] == 1;
  auto convert = [&](int64_t image, int64_t firstBlock, int64_t endBlock, int64_t begin, int64_t end) {
    PixelRow pixels(output, firstBlock, endBlock, s[3]);
    int64_t channels = channelsOf(output, firstBlock);
    for (int64_t y = begin; y < end; ++y) {
      const float *from = input.at(image) + firstBlock * output.lanes * s[1] + y * s[2];
      float *to = output.at(image, firstBlock) + y * output.paddedWidth() * output.lanes;
      if (byPixels)
        pixels.toBlocks(from, to);
      else if (s[3] == 1)
        kernels.transpose[2](from, s[1], to, output.lanes, channels, output.width);
      else
        for (int64_t x = 0; x < output.width; ++x)
          for (int64_t c = 0; c < channels; ++c)
            to[x * output.lanes + c] = from[x * s[3] + c * s[1]];
      for (int64_t block = firstBlock; block < endBlock; ++block)
        clearLanes(output, block, output.at(image, block) + y * output.paddedWidth() * output.lanes,
                   output.width);
    }
    for (int64_t block = firstBlock; block < endBlock; ++block)
      clearHalo(output, image, block, begin, end);
  };
  eachBand(context, output, byPixels ? kGroup : 1, convert);
}

void planarFromBlocked(const Context &context, const BlockedTensor &input, const PlanarTensor &output) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  const int64_t *s = output.strides;
  bool byPixels = s[1] == 1;
  auto convert = [&](int64_t image, int64_t firstBlock, int64_t endBlock, int64_t begin, int64_t end) {
    PixelRow pixels(input, firstBlock, endBlock, s[3]);
    int64_t channels = channelsOf(input, firstBlock);
    for (int64_t y = begin; y < end; ++y) {
      const float *from = input.at(image, firstBlock) + y * input.paddedWidth() * input.lanes;
      float *to = output.at(image) + firstBlock * input.lanes * s[1] + y * s[2];
      if (byPixels)
        pixels.fromBlocks(from, to);
      else if (s[3] == 1)
        kernels.transpose[2](from, input.lanes, to, s[1], input.width, channels);
      else
        for (int64_t x = 0; x < input.width; ++x)
          for (int64_t c = 0; c < channels; ++c)
            to[x * s[3] + c * s[1]] = from[x * input.lanes + c];
    }
  };
  eachBand(context, input, byPixels ? kGroup : 1, convert);
}

} // namespace torchere::cpu
