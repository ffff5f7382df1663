// The gradient of a convolution's weights, from tensors in blocks of channels: sums of taps where it is
// depthwise, else products of the output's gradient in planes with vectors of the input's channels.
#include "cpu/kernels/convolution.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/tile_runs.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int kSums = 0, kOffsets = 1; // scratch
/// Pixels of a chunk, of some rows or a piece of one: their vectors stay in the caches while the tiles of all
/// taps pass.
constexpr int64_t kChunkPixels = 768;
constexpr int64_t kWantedParts = 16;

/// Row `i` of the window, of one block of all images, where the convolution is depthwise.
void sumRow(const IsaKernels &kernels, const WeightGradientArgs &args, int64_t block, int64_t i,
            float *sums) {
  const BlockedTensor &input = args.input, &pixels = args.pixels;
  const int64_t lanes = input.lanes, inputRow = input.paddedWidth() * lanes;
  TapSumsJob job;
  job.step = args.stride[1] * lanes;
  job.tapStep = args.dilation[1] * lanes;
  job.taps = args.kernel[1];
  job.inputRowStride = args.stride[0] * inputRow;
  job.pixelsRowStride = pixels.paddedWidth() * lanes;
  job.rows = pixels.height;
  job.columns = pixels.width;
  job.sums = sums;
  for (int64_t image = 0; image < pixels.batch; ++image) {
    job.input = input.at(image, block) + (i * args.dilation[0] - args.padding[0]) * inputRow -
                args.padding[1] * lanes;
    job.pixels = pixels.at(image, block);
    kernels.tapSums(job);
  }
}

void depthwiseGradient(const Context &context, const WeightGradientArgs &args) {
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

/// From an output channel's pixels to the next one's: a multiple of 4 KiB would give all the same sets of the
/// L1 cache.
int64_t planeStride(const BlockedTensor &pixels) {
  int64_t stride = divideUp(pixels.height * pixels.width, 16) * 16;
  return stride % 512 == 0 ? stride + 16 : stride;
}

/// Products with the vectors of a block of input channels.
class BlockGradient {
public:
  BlockGradient(const Context &context, const WeightGradientArgs &args)
      : args_(args), input_(args.input), pixels_(args.pixels), kernels_(kernelsOf(context.isa)),
        lanes_(input_.lanes), plane_(planeStride(pixels_)), inputs_(input_.channels / args.groups),
        outputs_(pixels_.channels / args.groups) {
    int64_t units = input_.blocks() * args.kernel[0];
    cuts_ =
        std::clamp<int64_t>(divideUp(kWantedParts, units), 1, std::max<int64_t>(outputs_ / kLeastOutputs, 1));
  }
  int64_t parts() const { return input_.blocks() * args_.kernel[0] * cuts_; }
  void run(int64_t part) const;

private:
  static constexpr int64_t kLeastOutputs = 16; ///< of a part
  struct Range {
    int64_t begin, end;
  };
  Range outputsOf(int64_t block, int64_t cut) const;
  void store(int64_t block, int64_t i, const Range &outputs, const float *sums) const;

  const WeightGradientArgs &args_;
  const BlockedTensor &input_, &pixels_;
  const IsaKernels &kernels_;
  int64_t lanes_, plane_, inputs_, outputs_; ///< channels of a group
  int64_t cuts_ = 1;
};

/// The channels that meet the block's: those of its groups.
BlockGradient::Range BlockGradient::outputsOf(int64_t block, int64_t cut) const {
  int64_t last = std::min((block + 1) * lanes_, input_.channels) - 1;
  int64_t begin = block * lanes_ / inputs_ * outputs_, count = (last / inputs_ + 1) * outputs_ - begin;
  return {begin + partBegin(count, cuts_, cut), begin + partBegin(count, cuts_, cut + 1)};
}

void BlockGradient::run(int64_t part) const {
  int64_t cut = part % cuts_, i = part / cuts_ % args_.kernel[0], block = part / cuts_ / args_.kernel[0];
  const Range outputs = outputsOf(block, cut);
  const int64_t count = outputs.end - outputs.begin, width = pixels_.width, columns = args_.kernel[1];
  const int64_t inputRow = input_.paddedWidth() * lanes_, offset = i * args_.dilation[0] - args_.padding[0];
  auto *sums = static_cast<float *>(ThreadPool::scratch(columns * count * lanes_ * sizeof(float), kSums));
  std::fill_n(sums, columns * count * lanes_, 0.0f);
  const int64_t height = pixels_.height, all = height * pixels_.batch;
  const int64_t pieces = divideUp(width, kChunkPixels), most = std::max<int64_t>(kChunkPixels / width, 1);
  auto *offsets = static_cast<int64_t *>(ThreadPool::scratch(2 * most * sizeof(int64_t), kOffsets));
  const EvenTiles tiles(count, divideUp(count, int64_t(kernels_.maxRows[1])));
  TileArgs tile;
  tile.aOffsets = offsets;
  tile.bOffsets = offsets + most;
  tile.aRowStride = plane_;
  tile.bRowStride = args_.stride[1] * lanes_;
  tile.cRowStride = lanes_;
  tile.accumulate = true;
  for (int64_t chunk = 0; chunk < divideUp(all, most) * pieces && count > 0; ++chunk) {
    const int64_t first = chunk / pieces * most, x = partBegin(width, pieces, chunk % pieces);
    tile.k = partBegin(width, pieces, chunk % pieces + 1) - x;
    tile.blocks = std::min(most, all - first);
    for (int64_t at = 0; at < tile.blocks; ++at) {
      int64_t image = (first + at) / height, y = (first + at) % height;
      offsets[at] = image * pixels_.channels * plane_ + y * width + x;
      offsets[most + at] = input_.at(image, block) - input_.data + (y * args_.stride[0] + offset) * inputRow +
                           x * tile.bRowStride;
    }
    for (int64_t j = 0; j < columns; ++j) {
      tile.b = input_.data + (j * args_.dilation[1] - args_.padding[1]) * lanes_;
      tiles.eachRun([&](int64_t row, int64_t ofTile, int64_t number) {
        tile.tiles = number;
        tile.rows = ofTile;
        tile.a = static_cast<const float *>(args_.workspace) + (outputs.begin + row) * plane_;
        tile.c = sums + (j * count + row) * lanes_;
        kernels_.tiles[kF32][1][ofTile](tile);
      });
    }
  }
  store(block, i, outputs, sums);
}

void BlockGradient::store(int64_t block, int64_t i, const Range &outputs, const float *sums) const {
  const int64_t columns = args_.kernel[1], taps = args_.kernel[0] * columns,
                count = outputs.end - outputs.begin;
  const int64_t channels = std::min(lanes_, input_.channels - block * lanes_);
  for (int64_t output = outputs.begin; output < outputs.end; ++output)
    for (int64_t lane = 0; lane < channels; ++lane) {
      int64_t input = block * lanes_ + lane - output / outputs_ * inputs_; // in the group
      if (input < 0 || input >= inputs_)
        continue;
      float *to = args_.output + (output * inputs_ + input) * taps + i * columns;
      for (int64_t j = 0; j < columns; ++j)
        to[j] = sums[(j * count + output - outputs.begin) * lanes_ + lane];
    }
}

} // namespace

Halo WeightGradientArgs::inputHalo() const {
  auto along = [&](int axis, int64_t pixelsAlong, int64_t size) {
    int64_t last = (pixelsAlong - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] - padding[axis];
    return std::max({int64_t(0), padding[axis], last + 1 - size});
  };
  return {along(0, pixels.height, input.height), along(1, pixels.width, input.width)};
}

int64_t WeightGradientArgs::workspaceBytes() const {
  return isDepthwise() ? 0 : pixels.batch * pixels.channels * planeStride(pixels) * int64_t(sizeof(float));
}

void weightGradient(const Context &context, const WeightGradientArgs &args) {
  if (args.isDepthwise())
    return depthwiseGradient(context, args);
  const BlockedTensor &pixels = args.pixels;
  PlanarTensor planes;
  planes.data = static_cast<float *>(args.workspace);
  planes.strides[1] = planeStride(pixels);
  planes.strides[0] = pixels.channels * planes.strides[1];
  planes.strides[2] = pixels.width;
  planes.strides[3] = 1;
  planarFromBlocked(context, pixels, planes);
  BlockGradient gradient(context, args);
  context.pool.parallelFor(gradient.parts(), [&](int64_t part) { gradient.run(part); });
}

} // namespace torchere::cpu
