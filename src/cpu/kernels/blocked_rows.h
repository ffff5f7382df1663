// What kernels that write blocked tensors share: the bands of rows that are their parts, and the zeros in the
// halo and beyond the last channel that every one owes the tensor.
#pragma once

#include "cpu/kernels/convolution.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace torchere::cpu {

/// Rows [begin, end) of a block of an image.
struct BlockBand {
  int64_t image = 0, block = 0, begin = 0, end = 0;
};

/// The bands of all blocks of `tensor`, with `height` rows each: several a block where there are few.
class BlockBands {
public:
  BlockBands(const BlockedTensor &tensor, int64_t height)
      : blocks_(tensor.blocks()), height_(height), planes_(tensor.batch * blocks_) {
    if (planes_ > 0 && height > 0)
      each_ = std::clamp<int64_t>(divideUp(kWantedParts, planes_), 1, height);
  }
  int64_t count() const { return planes_ * each_; }
  int64_t ofBlock() const { return each_; }
  BlockBand at(int64_t index) const {
    int64_t band = index % each_, plane = index / each_;
    return {plane / blocks_, plane % blocks_, partBegin(height_, each_, band),
            partBegin(height_, each_, band + 1)};
  }
  /// The rows of a block's band.
  int64_t rows(int64_t band) const {
    return partBegin(height_, each_, band + 1) - partBegin(height_, each_, band);
  }

private:
  static constexpr int64_t kWantedParts = 16;
  int64_t blocks_, height_, planes_;
  int64_t each_ = 0; ///< bands of a block
};

/// Zeros to `floats` that follow each other, in so few that a call of memset() takes longer than its stores:
/// each of the loop has 4. `floats` is a multiple of that, as lanes are.
inline void clearFew(float *first, int64_t floats) {
  for (float *end = first + floats; first < end; first += 4) {
    asm("" : "+r"(first)); // or the compiler makes that call of the loop
    std::memset(first, 0, 4 * sizeof(float));
  }
}

/// `floats` of each pixel, all lanes or half of them. Their number is known to the compiler: a call of memcpy
/// would take longer than the copy.
inline void copyPixels(float *to, int64_t toStride, const float *from, int64_t fromStride, int64_t pixels,
                       int64_t floats) {
  auto copy = [&](auto count) {
    for (int64_t x = 0; x < pixels; ++x)
      std::memcpy(to + x * toStride, from + x * fromStride, sizeof(float[count()]));
  };
  floats == 2   ? copy(std::integral_constant<int, 2>())
  : floats == 4 ? copy(std::integral_constant<int, 4>())
  : floats == 8 ? copy(std::integral_constant<int, 8>())
                : copy(std::integral_constant<int, 16>());
}

/// The halo beside rows [begin, end) of a block, with that above the first and below the last row of the
/// tensor.
inline void clearHalo(const BlockedTensor &tensor, int64_t image, int64_t block, int64_t begin, int64_t end) {
  if (tensor.halo == Halo())
    return;
  int64_t side = tensor.halo.columns * tensor.lanes, row = tensor.paddedWidth() * tensor.lanes;
  float *first = tensor.at(image, block) - side;
  if (side > 0 && begin < end) { // behind a row and before the next one in one go
    clearFew(first + begin * row, side);
    for (int64_t y = begin + 1; y < end; ++y)
      clearFew(first + y * row - side, 2 * side);
    clearFew(first + end * row - side, side);
  }
  if (begin == 0)
    std::memset(first - tensor.halo.rows * row, 0, tensor.halo.rows * row * sizeof(float));
  if (end == tensor.height)
    std::memset(first + tensor.height * row, 0, tensor.halo.rows * row * sizeof(float));
}

/// `count` last lanes of pixels. The compiler knows their number, and makes stores of it.
template <int64_t kCount = 15>
inline void clearLastLanes(float *pixel, int64_t lanes, int64_t pixels, int64_t count) {
  if (count == kCount) {
    for (float *to = pixel + lanes - kCount, *end = to + pixels * lanes; to < end; to += lanes)
      std::memset(to, 0, kCount * sizeof(float));
    return;
  }
  if constexpr (kCount > 1)
    clearLastLanes<kCount - 1>(pixel, lanes, pixels, count);
}

/// The lanes beyond the last channel in `pixels` pixels of a block.
inline void clearLanes(const BlockedTensor &tensor, int64_t block, float *pixel, int64_t pixels) {
  int64_t used = tensor.channels - block * tensor.lanes;
  if (used < tensor.lanes)
    clearLastLanes(pixel, tensor.lanes, pixels, tensor.lanes - used);
}

/// What follows the activation of a convolution, in place on pixels of a block of its output that are in the
/// cache: `pixels` has them, and where their residual lies.
inline void scaleChannels(const IsaKernels &kernels, const ConvolutionArgs &args, int64_t block,
                          LaneFactorsJob pixels) {
  if (!args.hasLastStage())
    return;
  pixels.pixels.input = pixels.pixels.output;
  pixels.pixels.inputRowStride = pixels.pixels.outputRowStride;
  auto ofBlock = [&](const float *channels) {
    return channels ? channels + block * args.output.lanes : nullptr;
  };
  pixels.slopes = ofBlock(args.slopes);
  pixels.factors = ofBlock(args.factors);
  pixels.shifts = ofBlock(args.shifts);
  if (!args.addsResidualLast)
    pixels.residual = nullptr;
  kernels.scaleLanes(pixels);
}

} // namespace torchere::cpu
