// Winograd's convolutions: tiles of the input become points, each point a product, and points tiles of the
// output.
#include "cpu/kernels/winograd.h"

#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/convolution_layout.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/tile_runs.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int kPoints = 0, kProducts = 1, kBorder = 2, kOffsets = 5; // scratch
/// Transformed weights that stay in the L2 cache; larger ones should be read once.
constexpr int64_t kSmallWeights = 700 << 10;
constexpr int64_t kPartTiles = 24;
constexpr int64_t kPartPanels = 2;
constexpr int64_t kSharedBytes = 4 << 20; ///< of the points that all threads share

struct Grid {
  int64_t tile, side, points, down, across, perImage, total;
  explicit Grid(const ConvolutionPlan &plan) {
    tile = plan.kind == ConvolutionKind::Winograd4 ? 4 : 2;
    side = tile + 2;
    points = side * side;
    down = divideUp(plan.shape.outputHeight, tile);
    across = divideUp(plan.shape.outputWidth, tile);
    perImage = down * across;
    total = perImage * plan.shape.batch;
  }
};

bool weightsAreShared(const ConvolutionPlan &plan) {
  return plan.weightElements() * 4 > kSmallWeights;
}

/// The input channels of a product: as many as an output pixel reads.
int64_t depthOf(const ConvolutionPlan &plan) {
  int64_t lanes = floatLanes(plan.isa);
  return plan.shape.depth.kernel * divideUp(plan.shape.inputChannels, lanes) * lanes;
}

int64_t sharedTiles(const ConvolutionPlan &plan) {
  Grid grid(plan);
  int64_t most = std::max<int64_t>(kPartTiles, kSharedBytes / (grid.points * depthOf(plan) * 4));
  return divideUp(grid.total, divideUp(grid.total, most));
}

/// Elements from a point to the next: an odd number of cache lines, or all points would fall into few sets.
int64_t pointStride(int64_t vectors, int64_t tiles, int64_t lanes) {
  constexpr int64_t kLine = 16;
  return (divideUp(vectors * tiles * lanes, kLine) | 1) * kLine;
}

class Winograd {
public:
  Winograd(const Context &context, const ConvolutionArgs &args)
      : context_(context), args_(args), grid_(args.plan), kernels_(kernelsOf(args.plan.isa)),
        lanes_(floatLanes(args.plan.isa)), inputBlocks_(depthOf(args.plan) / lanes_), out_(args.output),
        panels_(args.plan) {}
  void run();

private:
  /// Tiles [first, first + count) of which the points of `stride` tiles lie at `points`.
  struct Piece {
    int64_t first, count;
    const float *points;
    int64_t stride;
  };
  void runByTiles();
  void runByPanels();
  void transform(int64_t block, int64_t first, int64_t count, float *points, int64_t stride) const;
  const float *inputPlane(int64_t block, int64_t image) const;
  const float *tilePixels(const float *plane, int64_t tile, int64_t &rowStride) const;
  void runPanels(const Piece &piece, int64_t begin, int64_t end) const;
  void multiply(const Piece &piece, int64_t begin, int64_t end, float *products) const;
  void transformBack(const Piece &piece, int64_t begin, int64_t end, const float *products) const;
  void makeOffsets(int64_t stride);
  int64_t vectorsOf(int64_t begin, int64_t end) const { return panels_.begin(end) - panels_.begin(begin); }

  const Context &context_;
  const ConvolutionArgs &args_;
  Grid grid_;
  const IsaKernels &kernels_;
  int64_t lanes_;
  int64_t inputBlocks_; ///< of all taps of the depth
  const BlockedTensor &out_;
  Panels panels_;
  int64_t *offsets_ = nullptr; ///< of the blocks of a point
};

/// The first pixel of what an output image reads in a block of a tap of the depth; null if that is no image.
const float *Winograd::inputPlane(int64_t block, int64_t image) const {
  const BlockedTensor &input = args_.input;
  const DepthWindow &depth = args_.plan.shape.depth;
  auto [range, first] = depth.tapsOf(image);
  int64_t tap = block / input.blocks();
  if (tap < range.first || tap >= range.end)
    return nullptr;
  return input.at(first + (tap - range.first) * depth.dilation, block % input.blocks());
}

/// The pixels that a tile of an image reads in a plane, with what lies beyond the input as zeros.
const float *Winograd::tilePixels(const float *plane, int64_t tile, int64_t &rowStride) const {
  const BlockedTensor &input = args_.input;
  int64_t y = tile / grid_.across * grid_.tile - args_.plan.shape.padding[0];
  int64_t x = tile % grid_.across * grid_.tile - args_.plan.shape.padding[1];
  rowStride = input.paddedWidth() * lanes_;
  if (plane && y >= -input.halo.rows && x >= -input.halo.columns &&
      y + grid_.side <= input.height + input.halo.rows && x + grid_.side <= input.width + input.halo.columns)
    return plane + y * rowStride + x * lanes_;
  auto *border = static_cast<float *>(ThreadPool::scratch(grid_.points * lanes_ * sizeof(float), kBorder));
  std::memset(border, 0, grid_.points * lanes_ * sizeof(float));
  int64_t left = std::max<int64_t>(0, -x), right = std::min(grid_.side, input.width - x);
  int64_t last = plane && left < right ? std::min(grid_.side, input.height - y) : 0;
  for (int64_t i = std::max<int64_t>(0, -y); i < last; ++i)
    std::memcpy(border + (i * grid_.side + left) * lanes_, plane + (y + i) * rowStride + (x + left) * lanes_,
                (right - left) * lanes_ * sizeof(float));
  rowStride = grid_.side * lanes_;
  return border;
}

/// Tiles [first, first + count) of a block: points[point][block][tile], `stride` tiles a block.
void Winograd::transform(int64_t block, int64_t first, int64_t count, float *points, int64_t stride) const {
  WinogradJob job;
  job.outputStride = pointStride(inputBlocks_, stride, lanes_);
  int64_t image = first / grid_.perImage, tile = first % grid_.perImage;
  const float *plane = inputPlane(block, image);
  for (int64_t i = 0; i < count; ++i, ++tile) {
    if (tile == grid_.perImage) {
      tile = 0;
      plane = inputPlane(block, ++image);
    }
    job.input = tilePixels(plane, tile, job.inputStride);
    job.output = points + (block * stride + i) * lanes_;
    kernels_.winogradInput[grid_.tile == 4](job);
  }
}

void Winograd::makeOffsets(int64_t stride) {
  offsets_ = static_cast<int64_t *>(ThreadPool::scratch(inputBlocks_ * sizeof(int64_t), kOffsets));
  for (int64_t block = 0; block < inputBlocks_; ++block)
    offsets_[block] = block * stride * lanes_;
}

/// products[point][vector][tile] of panels [begin, end): a point's tiles stay in the L1 cache while the
/// panels pass.
void Winograd::multiply(const Piece &piece, int64_t begin, int64_t end, float *products) const {
  int64_t depth = inputBlocks_ * lanes_, all = vectorsOf(begin, end);
  int64_t inputStride = pointStride(inputBlocks_, piece.stride, lanes_);
  int64_t outputStride = pointStride(all, piece.count, lanes_);
  TileArgs tile;
  tile.aRowStride = lanes_;
  tile.aOffsets = offsets_;
  tile.blocks = inputBlocks_;
  tile.k = lanes_;
  tile.cRowStride = lanes_;
  tile.cVectorStride = piece.count * lanes_;
  auto weightsOf = [&](int64_t panel, int64_t point) {
    return args_.weights +
           depth * lanes_ * (panels_.begin(panel) * grid_.points + point * panels_.vectors(panel));
  };
  for (int64_t point = 0; point < grid_.points; ++point)
    for (int64_t panel = begin; panel < end; ++panel) {
      int64_t vectors = panels_.vectors(panel), width = vectors * lanes_;
      EvenTiles tiles(piece.count, divideUp(piece.count, kernels_.maxRows[vectors]));
      bool isLast = panel + 1 == end, isEnd = isLast && point + 1 == grid_.points;
      tile.b = weightsOf(panel, point);
      tile.bRowStride = width;
      tile.aAhead = tile.lastAhead = isLast && !isEnd ? inputStride : 0;
      tile.ahead = isEnd ? nullptr : weightsOf(isLast ? begin : panel + 1, point + isLast);
      tile.aheadStep = divideUp(width * int64_t(sizeof(float)), tiles.tiles);
      tiles.eachRun([&](int64_t row, int64_t rows, int64_t count) {
        tile.tiles = count;
        tile.a = piece.points + point * inputStride + row * lanes_;
        tile.c = products + point * outputStride + (vectorsOf(begin, panel) * piece.count + row) * lanes_;
        kernels_.tiles[kF32][vectors][rows](tile);
        if (tile.ahead)
          tile.ahead = static_cast<const char *>(tile.ahead) + tile.aheadStep * depth * count;
      });
    }
}

void Winograd::transformBack(const Piece &piece, int64_t begin, int64_t end, const float *products) const {
  int64_t vectors = vectorsOf(begin, end);
  const BlockedTensor &residual = args_.residual;
  Activation activation = args_.epilogue.activation;
  WinogradJob job;
  job.inputStride = pointStride(vectors, piece.count, lanes_);
  job.outputStride = out_.paddedWidth() * lanes_;
  job.residualStride = residual.paddedWidth() * lanes_;
  job.relu = activation == Activation::Relu;
  LaneFactorsJob last;
  last.pixels.outputRowStride = job.outputStride;
  last.residualRowStride = job.residualStride;
  for (int64_t v = 0; v < vectors; ++v) {
    int64_t block = panels_.begin(begin) + v;
    job.bias =
        args_.epilogue.bias ? static_cast<const float *>(args_.epilogue.bias) + block * lanes_ : nullptr;
    for (int64_t i = 0; i < piece.count; ++i) {
      int64_t image = (piece.first + i) / grid_.perImage, rest = (piece.first + i) % grid_.perImage;
      int64_t y = rest / grid_.across * grid_.tile, x = rest % grid_.across * grid_.tile;
      job.input = products + (v * piece.count + i) * lanes_;
      job.output = out_.at(image, block) + y * job.outputStride + x * lanes_;
      job.rows = std::min(grid_.tile, out_.height - y);
      job.columns = std::min(grid_.tile, out_.width - x);
      const float *beside =
          residual.data ? residual.at(image, block) + y * job.residualStride + x * lanes_ : nullptr;
      job.residual = args_.addsResidualFirst() ? beside : nullptr;
      kernels_.winogradOutput[grid_.tile == 4](job);
      if (activation > Activation::Relu)
        kernels_.activate(activation, job.output, job.outputStride, job.rows, job.columns * lanes_);
      last.pixels.output = job.output;
      last.pixels.rows = job.rows;
      last.pixels.columns = job.columns;
      last.residual = beside;
      scaleChannels(kernels_, args_, block, last);
      for (int64_t row = 0; row < job.rows; ++row)
        clearLanes(out_, block, job.output + row * job.outputStride, job.columns);
    }
  }
}

void Winograd::runPanels(const Piece &piece, int64_t begin, int64_t end) const {
  int64_t stride = pointStride(vectorsOf(begin, end), piece.count, lanes_);
  auto *products =
      static_cast<float *>(ThreadPool::scratch(grid_.points * stride * sizeof(float), kProducts));
  multiply(piece, begin, end, products);
  transformBack(piece, begin, end, products);
}

/// Each part takes some tiles through all channels.
void Winograd::runByTiles() {
  int64_t parts = divideUp(grid_.total, kPartTiles);
  parts += parts > 1 ? parts % 2 : 0;
  int64_t stride = divideUp(grid_.total, parts);
  makeOffsets(stride);
  context_.pool.parallelFor(parts, [&](int64_t part) {
    int64_t first = partBegin(grid_.total, parts, part),
            count = partBegin(grid_.total, parts, part + 1) - first;
    auto *points = static_cast<float *>(ThreadPool::scratch(
        grid_.points * pointStride(inputBlocks_, stride, lanes_) * sizeof(float), kPoints));
    for (int64_t block = 0; block < inputBlocks_; ++block)
      transform(block, first, count, points, stride);
    for (int64_t panel = 0; panel < panels_.count; panel += kPartPanels)
      runPanels({first, count, points, stride}, panel, std::min(panel + kPartPanels, panels_.count));
  });
}

/// All threads make the points of some tiles, then each takes its panels of weights through them.
void Winograd::runByPanels() {
  int64_t stride = sharedTiles(args_.plan);
  float *points = static_cast<float *>(args_.workspace);
  makeOffsets(stride);
  for (int64_t begin = 0; begin < grid_.total; begin += stride) {
    int64_t count = std::min(stride, grid_.total - begin);
    context_.pool.parallelFor(inputBlocks_,
                              [&](int64_t block) { transform(block, begin, count, points, stride); });
    int64_t pieces = divideUp(count, kPartTiles), groups = divideUp(panels_.count, kPartPanels);
    context_.pool.parallelFor(groups * pieces, [&](int64_t part) {
      int64_t piece = part % pieces, group = part / pieces;
      int64_t first = partBegin(count, pieces, piece), size = partBegin(count, pieces, piece + 1) - first;
      runPanels({begin + first, size, points + first * lanes_, stride},
                partBegin(panels_.count, groups, group), partBegin(panels_.count, groups, group + 1));
    });
  }
}

void Winograd::run() {
  if (grid_.total == 0)
    return;
  if (weightsAreShared(args_.plan))
    runByPanels();
  else
    runByTiles();
  if (out_.halo != Halo())
    context_.pool.parallelFor(out_.batch * out_.blocks(), [&](int64_t index) {
      clearHalo(out_, index / out_.blocks(), index % out_.blocks(), 0, out_.height);
    });
}

} // namespace

namespace {

/// The multiply-adds for each pair of channels, and what takes as long: a weight that is read, a tile's
/// transforms.
double workOf(const ConvolutionShape &shape, ConvolutionKind kind) {
  constexpr double weightWork = 8, transformWork = 20;
  int64_t tile = kind == ConvolutionKind::Winograd4 ? 4 : kind == ConvolutionKind::Winograd2 ? 2 : 1;
  double tiles = static_cast<double>(divideUp(shape.outputHeight, tile) * divideUp(shape.outputWidth, tile) *
                                     shape.batch);
  const DepthWindow &depth = shape.depth;
  if (tile == 1) // which leaves out what meets no image
    return 9 * (tiles * double(depth.tapCount()) / double(depth.output * depth.kernel) + weightWork);
  double transforms = transformWork / double(depth.kernel * shape.inputChannels) +
                      transformWork / double(shape.outputChannels);
  return 1.25 * double(winogradPoints(kind)) * (tiles * (1 + transforms) + weightWork);
}

} // namespace

ConvolutionKind winogradKind(const ConvolutionShape &shape) {
  bool fits = shape.kernel[0] == 3 && shape.kernel[1] == 3 && shape.stride[0] == 1 && shape.stride[1] == 1 &&
              shape.dilation[0] == 1 && shape.dilation[1] == 1 && shape.groups == 1;
  ConvolutionKind best = ConvolutionKind::Direct;
  if (!fits || std::min(shape.depth.kernel * shape.inputChannels, shape.outputChannels) < 16)
    return best;
  for (ConvolutionKind kind : {ConvolutionKind::Winograd2, ConvolutionKind::Winograd4})
    if (workOf(shape, kind) < workOf(shape, best))
      best = kind;
  return best;
}

int64_t winogradWorkspaceBytes(const ConvolutionPlan &plan) {
  if (!weightsAreShared(plan))
    return 0;
  int64_t lanes = floatLanes(plan.isa);
  return winogradPoints(plan.kind) * pointStride(depthOf(plan) / lanes, sharedTiles(plan), lanes) * 4;
}

void packWinograd(const Context &context, const ConvolutionPlan &plan, const float *weights,
                  const int64_t (&strides)[5], float *packed) {
  const ConvolutionShape &shape = plan.shape;
  Grid grid(plan);
  auto transform = kernelsOf(plan.isa).winogradWeights[grid.tile == 4];
  int64_t lanes = floatLanes(plan.isa), depth = depthOf(plan), inputs = depth / shape.depth.kernel;
  context.pool.parallelFor(Panels(plan).count, [&](int64_t index) {
    WeightPanel panel(plan, index);
    int64_t row = panel.columns, rows = lanes * row; // of an input, and of a block of inputs
    float *to = packed + panel.firstOutput * depth * grid.points;
    auto *taps = static_cast<float *>(ThreadPool::scratch(rows * 9 * sizeof(float), kPoints));
    auto *points = static_cast<float *>(ThreadPool::scratch(rows * grid.points * sizeof(float), kProducts));
    for (int64_t first = 0; first < depth; first += lanes) {
      gatherTaps(plan, panel, weights + first / inputs * strides[4], strides, first % inputs, lanes, taps);
      for (int64_t input = 0; input < lanes; ++input)
        transform({taps + input * 9 * row, row, points + input * row, rows, row});
      // Points lie so far apart that rows of them would share few places of the L1 cache.
      for (int64_t point = 0; point < grid.points; ++point)
        std::copy_n(points + point * rows, rows, to + point * depth * row + first * row);
    }
  });
}

void convolveWinograd(const Context &context, const ConvolutionArgs &args) {
  Winograd(context, args).run();
}

} // namespace torchere::cpu
