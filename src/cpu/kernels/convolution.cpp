// Convolutions as tiles of pixels times panels of output channels, and depthwise ones as rows of taps.
#include "cpu/kernels/convolution.h"

#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/convolution_layout.h"
#include "cpu/kernels/grouped_convolution.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/winograd.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kWeightBytes = 200 << 10; ///< of a chunk of a panel, which stays in the L2 cache
constexpr int64_t kWantedParts = 16;
constexpr int64_t kPartWork = 200000; ///< multiply-adds
/// Reading a weight takes as long as so many multiply-adds on one that is in the cache.
constexpr int64_t kWeightWork = 8;
constexpr int kOffsets = 5; // scratch

/// The input that kernels read: where tap (0, 0) of output (0, 0) lies, and how far apart things are.
struct Source {
  const float *data = nullptr; ///< of image 0, block (or channel) 0
  int64_t imageStride = 0;
  int64_t blockStride = 0;
  int64_t rowStride = 0;   ///< from a row of pixels to the next
  int64_t pixelStride = 0; ///< from a pixel to the next
};

class Convolver {
public:
  Convolver(const Context &context, const ConvolutionArgs &args)
      : context_(context), args_(args), shape_(args.plan.shape), kernels_(kernelsOf(args.plan.isa)),
        lanes_(floatLanes(args.plan.isa)), out_(args.output) {}
  void run();

private:
  void findSource();
  Source copyPlanes();
  Source copyWithHalo();
  void runTiles();
  void runDepthwise();
  void runGrouped();
  const int64_t *makeTaps(int64_t taps);
  template <class Body> void eachBand(const Body &body);
  template <class Job> Job rowJob(int64_t image, int64_t block, int64_t y) const;
  void makeOffsets();
  void flatten();
  void runBand(int64_t phase, int64_t image, int64_t panelBegin, int64_t panelEnd, int64_t rowBegin,
               int64_t rowEnd);
  void runChunk(int64_t phase, int64_t image, int64_t panel, int64_t chunk, int64_t rowBegin, int64_t rowEnd);
  void finishTile(int64_t block, int64_t vectors, float *pixel, int64_t pixels);
  int64_t chunkBegin(int64_t chunk) const { return partBegin(blocks_, chunks_, chunk) * tapsPerBlock_; }

  const Context &context_;
  const ConvolutionArgs &args_;
  const ConvolutionShape &shape_;
  const IsaKernels &kernels_;
  int64_t lanes_;
  const BlockedTensor &out_;
  Source source_;
  int64_t rows_ = 0, width_ = 0; ///< of the output; one row of all pixels where nothing lies between rows
  int64_t blocks_ = 0;           ///< of input channels that a panel reads
  int64_t tapsPerBlock_ = 0;
  int64_t depth_ = 0; ///< of an entry of offsets_
  int64_t chunks_ = 1;
  const int64_t *offsets_ = nullptr;
  PanelBlocks panels_;
};

Source Convolver::copyPlanes() {
  int64_t height = paddedExtent(shape_, 0), width = paddedExtent(shape_, 1);
  const int64_t *s = args_.planar.strides;
  float *to = static_cast<float *>(args_.workspace);
  context_.pool.parallelFor(shape_.batch * shape_.inputChannels, [&](int64_t plane) {
    const float *from =
        args_.planar.data + plane / shape_.inputChannels * s[0] + plane % shape_.inputChannels * s[1];
    for (int64_t y = 0; y < height; ++y) {
      float *row = to + (plane * height + y) * width;
      int64_t inY = y - shape_.padding[0];
      std::memset(row, 0, width * sizeof(float));
      int64_t begin = std::max<int64_t>(shape_.padding[1], 0);
      int64_t end = std::min(width, shape_.inputWidth + shape_.padding[1]);
      if (inY >= 0 && inY < shape_.inputHeight && begin < end)
        std::memcpy(row + begin, from + inY * s[2] + begin - shape_.padding[1],
                    (end - begin) * sizeof(float));
    }
  });
  int64_t plane = height * width;
  return {to, shape_.inputChannels * plane, plane, width, 1};
}

Source Convolver::copyWithHalo() {
  const BlockedTensor &input = args_.input;
  BlockedTensor wide = input;
  wide.halo = args_.plan.inputHalo();
  wide.data = static_cast<float *>(args_.workspace);
  context_.pool.parallelFor(input.batch * input.blocks(), [&](int64_t index) {
    int64_t image = index / input.blocks(), block = index % input.blocks();
    for (int64_t y = 0; y < input.height; ++y)
      std::memcpy(wide.at(image, block) + y * wide.paddedWidth() * lanes_,
                  input.at(image, block) + y * input.paddedWidth() * lanes_,
                  input.width * lanes_ * sizeof(float));
    clearHalo(wide, image, block, 0, input.height);
  });
  return {wide.at(0, 0), wide.blocks() * wide.plane(), wide.plane(), wide.paddedWidth() * lanes_, lanes_};
}

void Convolver::findSource() {
  const BlockedTensor &input = args_.input;
  if (args_.plan.kind == ConvolutionKind::Planar) {
    source_ = copyPlanes();
    return;
  }
  if (input.halo < args_.plan.inputHalo())
    source_ = copyWithHalo();
  else
    source_ = {input.at(0, 0), input.blocks() * input.plane(), input.plane(), input.paddedWidth() * lanes_,
               lanes_};
  source_.data -= shape_.padding[0] * source_.rowStride + shape_.padding[1] * source_.pixelStride;
}

void Convolver::run() {
  if (shape_.batch == 0 || shape_.outputHeight <= 0 || shape_.outputWidth <= 0)
    return;
  findSource();
  rows_ = shape_.outputHeight;
  width_ = shape_.outputWidth;
  if (args_.plan.kind == ConvolutionKind::Depthwise)
    runDepthwise();
  else if (args_.plan.kind == ConvolutionKind::Grouped)
    runGrouped();
  else
    runTiles();
}

void Convolver::makeOffsets() {
  bool planar = args_.plan.kind == ConvolutionKind::Planar;
  // A row of a planar kernel is contiguous, so it is one entry.
  bool joined = planar && shape_.dilation[1] == 1;
  panels_ = panelBlocks(args_.plan);
  blocks_ = planar ? shape_.inputChannels : panels_.count;
  int64_t columns = joined ? 1 : shape_.kernel[1];
  tapsPerBlock_ = shape_.kernel[0] * columns;
  depth_ = joined ? shape_.kernel[1] : planar ? 1 : lanes_;
  auto *offsets =
      static_cast<int64_t *>(ThreadPool::scratch(blocks_ * tapsPerBlock_ * sizeof(int64_t), kOffsets));
  offsets_ = offsets;
  for (int64_t block = 0; block < blocks_; ++block)
    for (int64_t y = 0; y < shape_.kernel[0]; ++y)
      for (int64_t x = 0; x < columns; ++x)
        *offsets++ = block * source_.blockStride + y * shape_.dilation[0] * source_.rowStride +
                     x * shape_.dilation[1] * source_.pixelStride;
  int64_t bytes = blocks_ * tapsPerBlock_ * depth_ * args_.plan.vectors * lanes_ * 4;
  bool inPlace = args_.residual.data == out_.data;
  chunks_ =
      inPlace ? 1 : std::clamp<int64_t>(divideUp(bytes, kWeightBytes), 1, std::max<int64_t>(blocks_, 1));
}

/// 1x1 without halos: the plane is one row of pixels.
void Convolver::flatten() {
  bool dense = shape_.kernel[0] * shape_.kernel[1] == 1 && shape_.stride[0] * shape_.stride[1] == 1 &&
               shape_.phaseCount() == 1 && source_.rowStride == width_ * lanes_ && out_.halo == 0 &&
               (!args_.residual.data || args_.residual.halo == 0);
  if (dense) {
    width_ *= rows_;
    rows_ = 1;
  }
}

void Convolver::runTiles() {
  makeOffsets();
  flatten();
  int64_t pixels = shape_.batch * rows_ * width_, weights = args_.plan.weightElements();
  int64_t wanted = std::clamp<int64_t>(weights * (pixels + kWeightWork) / kPartWork, 1, kWantedParts);
  // The larger of weights and input is what each part should have to itself. A flat row is cut into bands of
  // tiles.
  int64_t tile = kernels_.maxRows[args_.plan.vectors], batch = shape_.batch;
  int64_t bands = rows_ == 1 ? std::max<int64_t>(1, width_ / (2 * tile)) : rows_;
  int64_t perImage = divideUp(wanted, batch);
  bool byPixels = batch * shape_.inputChannels * shape_.inputHeight * shape_.inputWidth > weights;
  int64_t rowParts = 1, panelParts = 1;
  if (byPixels) {
    rowParts = std::min(bands, perImage);
    panelParts = std::min(panels_.panels, divideUp(perImage, rowParts));
  } else {
    panelParts = std::min(panels_.panels, perImage);
    rowParts = std::min(bands, divideUp(perImage, panelParts));
  }
  bool flat = rows_ == 1;
  // A thread takes neighbouring parts: they share what was cut.
  int64_t partsOfPhase = batch * rowParts * panelParts;
  context_.pool.parallelFor(shape_.phaseCount() * partsOfPhase, [&](int64_t index) {
    int64_t phase = index / partsOfPhase, part = index % partsOfPhase;
    int64_t panel = byPixels ? part % panelParts : part / (batch * rowParts);
    int64_t rest = byPixels ? part / panelParts : part % (batch * rowParts);
    int64_t row = rest % rowParts, image = rest / rowParts, total = flat ? width_ : rows_;
    runBand(phase, image, partBegin(panels_.panels, panelParts, panel),
            partBegin(panels_.panels, panelParts, panel + 1), partBegin(total, rowParts, row),
            partBegin(total, rowParts, row + 1));
  });
}

/// Rows [rowBegin, rowEnd) of the output; or these pixels, where there is one row.
void Convolver::runBand(int64_t phase, int64_t image, int64_t panelBegin, int64_t panelEnd, int64_t rowBegin,
                        int64_t rowEnd) {
  for (int64_t panel = panelBegin; panel < panelEnd; ++panel) {
    for (int64_t chunk = 0; chunk < chunks_; ++chunk)
      runChunk(phase, image, panel, chunk, rowBegin, rowEnd);
    int64_t block = panel * args_.plan.vectors, end = std::min(block + args_.plan.vectors, out_.blocks());
    int64_t below = rows_ == 1 ? out_.height : rowEnd * shape_.phases[0];
    for (; phase == 0 && block < end; ++block)
      clearHalo(out_, image, block, rows_ == 1 ? 0 : rowBegin * shape_.phases[0], below);
  }
}

/// A chunk of a panel's weights, over all tiles of the band.
void Convolver::runChunk(int64_t phase, int64_t image, int64_t panel, int64_t chunk, int64_t rowBegin,
                         int64_t rowEnd) {
  bool flat = rows_ == 1, last = chunk + 1 == chunks_, planar = args_.plan.kind == ConvolutionKind::Planar;
  int64_t vectors = std::min<int64_t>(args_.plan.vectors, out_.blocks() - panel * args_.plan.vectors);
  int64_t block = panel * args_.plan.vectors, first = chunkBegin(chunk);
  int64_t begin = flat ? rowBegin : 0, length = flat ? rowEnd - rowBegin : width_;
  int64_t tiles = divideUp(length, kernels_.maxRows[vectors]), shortest = length / tiles;
  const BlockedTensor &residual = args_.residual;
  int64_t phaseY = phase / shape_.phases[1], phaseX = phase % shape_.phases[1];
  float *output = out_.at(image, block) + (phaseY * out_.paddedWidth() + phaseX) * lanes_;
  const float *added = last && residual.data
                           ? residual.at(image, block) + (phaseY * residual.paddedWidth() + phaseX) * lanes_
                           : nullptr;
  const float *input = source_.data + image * source_.imageStride +
                       (planar ? 0 : panels_.first(args_.plan, panel)) * source_.blockStride;
  TileArgs tile;
  tile.aRowStride = shape_.stride[1] * source_.pixelStride;
  tile.aOffsets = offsets_ + first;
  tile.blocks = chunkBegin(chunk + 1) - first;
  tile.k = depth_;
  tile.b = args_.weights + phase * (args_.plan.weightElements() / shape_.phaseCount()) +
           block * lanes_ * blocks_ * tapsPerBlock_ * depth_ + first * depth_ * vectors * lanes_;
  tile.bRowStride = vectors * lanes_;
  tile.cRowStride = tile.residualRowStride = shape_.phases[1] * lanes_;
  tile.cVectorStride = out_.plane();
  tile.accumulate = chunk > 0;
  tile.residualVectorStride = residual.plane();
  bool isFused = isTileActivation(args_.epilogue.activation);
  if (last && isFused)
    tile.activation = args_.epilogue.activation;
  if (last && args_.epilogue.bias)
    tile.bias = static_cast<const float *>(args_.epilogue.bias) + block * lanes_;
  bool isFinished = !last || (isFused && (block + vectors) * lanes_ <= out_.channels);
  for (int64_t y = flat ? 0 : rowBegin, end = flat ? 1 : rowEnd; y < end; ++y)
    for (int64_t i = 0, x = begin; i < tiles; ++i) {
      int64_t count = shortest + (i < length - shortest * tiles ? 1 : 0);
      float *pixel = output + y * shape_.phases[0] * out_.paddedWidth() * lanes_ + x * tile.cRowStride;
      tile.a = input + y * shape_.stride[0] * source_.rowStride + x * tile.aRowStride;
      tile.c = pixel;
      if (added)
        tile.residual =
            added + y * shape_.phases[0] * residual.paddedWidth() * lanes_ + x * tile.residualRowStride;
      kernels_.tiles[kF32][vectors][count](tile);
      if (!isFinished)
        finishTile(block, vectors, pixel, count);
      x += count;
    }
}

void Convolver::finishTile(int64_t block, int64_t vectors, float *pixel, int64_t pixels) {
  int64_t runs = shape_.phases[1] == 1 ? 1 : pixels, length = pixels / runs, step = shape_.phases[1] * lanes_;
  for (int64_t v = 0; v < vectors; ++v, pixel += out_.plane()) {
    if (!isTileActivation(args_.epilogue.activation))
      kernels_.activate(args_.epilogue.activation, pixel, step, runs, length * lanes_);
    for (int64_t run = 0; run < runs; ++run)
      clearLanes(out_, block + v, pixel + run * step, length);
  }
}

/// Where the taps of a kernel lie in a block of the input.
const int64_t *Convolver::makeTaps(int64_t taps) {
  auto *offsets = static_cast<int64_t *>(ThreadPool::scratch(taps * sizeof(int64_t), kOffsets));
  for (int64_t tap = 0; tap < taps; ++tap)
    offsets[tap] = tap / shape_.kernel[1] * shape_.dilation[0] * source_.rowStride +
                   tap % shape_.kernel[1] * shape_.dilation[1] * lanes_;
  return offsets;
}

/// body(image, block, first row, end row) for all rows of each block of the output, in parts. They are cut as
/// the convolution before and the one behind are, mostly: a thread finds its own results in its cache.
template <class Body> void Convolver::eachBand(const Body &body) {
  int64_t blocks = out_.blocks(), batch = shape_.batch;
  bool byPixels = rows_ * width_ > out_.channels;
  int64_t together = byPixels ? blocks : 1, planes = batch * blocks / together;
  int64_t bands = std::clamp<int64_t>(divideUp(kWantedParts, planes), 1, rows_);
  context_.pool.parallelFor(planes * bands, [&](int64_t part) {
    int64_t band = part % bands, first = part / bands * together;
    int64_t begin = partBegin(rows_, bands, band), end = partBegin(rows_, bands, band + 1);
    for (int64_t plane = first; plane < first + together; ++plane) {
      int64_t block = plane % blocks, image = plane / blocks;
      body(image, block, begin, end);
      if ((block + 1) * lanes_ > out_.channels)
        for (int64_t y = begin; y < end; ++y)
          clearLanes(out_, block, out_.at(image, block) + y * out_.paddedWidth() * lanes_, width_);
      clearHalo(out_, image, block, begin, end);
    }
  });
}

/// The parts that the jobs of rows have in common.
template <class Job> Job Convolver::rowJob(int64_t image, int64_t block, int64_t y) const {
  Job job;
  job.step = shape_.stride[1] * lanes_;
  job.pixels = width_;
  job.input = source_.data + image * source_.imageStride + y * shape_.stride[0] * source_.rowStride;
  job.output = out_.at(image, block) + y * out_.paddedWidth() * lanes_;
  job.activation = args_.epilogue.activation;
  if (args_.epilogue.bias)
    job.bias = static_cast<const float *>(args_.epilogue.bias) + block * lanes_;
  if (args_.residual.data)
    job.residual = args_.residual.at(image, block) + y * args_.residual.paddedWidth() * lanes_;
  return job;
}

void Convolver::runDepthwise() {
  int64_t taps = shape_.kernel[0] * shape_.kernel[1];
  const int64_t *offsets = makeTaps(taps);
  eachBand([&](int64_t image, int64_t block, int64_t begin, int64_t end) {
    auto job = rowJob<TapsJob>(image, block, begin);
    job.input += block * source_.blockStride;
    job.rows = end - begin;
    job.inputRowStride = shape_.stride[0] * source_.rowStride;
    job.outputRowStride = out_.paddedWidth() * lanes_;
    job.residualRowStride = args_.residual.paddedWidth() * lanes_;
    job.taps = offsets;
    job.tapCount = taps;
    job.weights = args_.weights + block * taps * lanes_;
    kernels_.depthwise(job);
  });
}

void Convolver::runGrouped() {
  int64_t taps = shape_.kernel[0] * shape_.kernel[1], elements = groupedBlockElements(args_.plan);
  const int64_t *offsets = makeTaps(taps);
  eachBand([&](int64_t image, int64_t block, int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      auto job = rowJob<GroupedJob>(image, block, y);
      job.blockStride = source_.blockStride;
      job.taps = offsets;
      job.tapCount = taps;
      job.steps = args_.weights + block * elements;
      job.stepCount = args_.plan.groupSteps;
      groupedRow(args_.plan.isa, job);
    }
  });
}

} // namespace

void convolve(const Context &context, const ConvolutionArgs &args) {
  if (winogradPoints(args.plan.kind))
    convolveWinograd(context, args);
  else
    Convolver(context, args).run();
}

} // namespace torchere::cpu
