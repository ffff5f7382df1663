// Convolutions as tiles of pixels times panels of output channels, and depthwise ones as rows of taps.
#include "cpu/kernels/convolution.h"

#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/convolver.h"
#include "cpu/kernels/grouped_convolution.h"
#include "cpu/kernels/winograd.h"

#include <algorithm>
#include <utility>

namespace torchere::cpu {
namespace {

constexpr int64_t kWeightBytes = 100 << 10; ///< of a chunk of a panel, which stays in the L2 cache
/// That a tile reads of a chunk: it stays in the L1 cache beside that of the next tile.
constexpr int64_t kTileBytes = 16 << 10;
/// How far ahead the taps of a window are fetched. A tile reads the lines of the one before again, unless
/// there is but one tap: then those of the next tile are fetched.
constexpr int64_t kBlocksAhead = 4;
constexpr int64_t kWantedParts = 16;
constexpr int64_t kPartPixels = 256;  ///< what a chunk reads of them stays in the L2 cache
constexpr int64_t kPartWork = 200000; ///< multiply-adds
/// Reading a weight takes as long as so many multiply-adds on one that is in the cache.
constexpr int64_t kWeightWork = 8;
constexpr int kGated = 1, kGroupStage = 4, kOffsets = 5, kLiveTaps = 6,
              kRowTaps = 7; // scratch; ConvolutionPair has 0

} // namespace

void Convolver::run() {
  if (shape_.batch == 0 || shape_.outputHeight <= 0 || shape_.outputWidth <= 0)
    return;
  prepare(findSource(context_, args_, plan_));
  if (plan_.kind == ConvolutionKind::Depthwise)
    runDepthwise();
  else if (plan_.kind == ConvolutionKind::Grouped)
    runGrouped();
  else
    runTiles();
}

void Convolver::prepare(const ConvolutionSource &source) {
  source_ = source;
  rows_ = shape_.outputHeight;
  width_ = shape_.outputWidth;
  if (plan_.kind == ConvolutionKind::Depthwise || plan_.kind == ConvolutionKind::Grouped)
    makeTaps();
  else
    makeOffsets();
}

void Convolver::makeOffsets() {
  bool planar = plan_.kind == ConvolutionKind::Planar;
  // A row of a planar kernel is contiguous, so it is one entry.
  bool joined = planar && shape_.dilation[1] == 1;
  imageBlocks_ = planar ? shape_.inputChannels : inputs_.count;
  blocks_ = shape_.depth.kernel * imageBlocks_;
  int64_t columns = joined ? 1 : shape_.kernel[1];
  taps_ = {{0, shape_.kernel[0]}, {0, columns}};
  tapsPerBlock_ = shape_.kernel[0] * columns;
  depth_ = joined ? shape_.kernel[1] : planar ? 1 : lanes_;
  sharesBlocks_ = shape_.groups > 1 && shape_.outputChannels / shape_.groups % lanes_ != 0;
  int64_t entries = blocks_ * tapsPerBlock_ + kBlocksAhead;
  auto *offsets = static_cast<int64_t *>(ThreadPool::scratch(2 * entries * sizeof(int64_t), kOffsets));
  offsets_[0] = offsets;
  offsets_[1] = offsets + entries;
  for (int half = 0; half < (shape_.groups > 1 ? 2 : 1); ++half)
    std::fill_n(makeOffsets(offsets + half * entries, half == 1), kBlocksAhead, 0);
  int64_t bytes = blocks_ * tapsPerBlock_ * depth_ * plan_.vectors * lanes_ * 4;
  int64_t tileBytes =
      blocks_ * shape_.kernel[0] * kernels_.maxRows[plan_.vectors] * source_.stride[1] * lanes_ * 4;
  chunks_ = std::max(divideUp(bytes, kWeightBytes), divideUp(tileBytes, kTileBytes));
  // The weights of one pixel are read once, in the order in which they lie.
  bool isOnePixel = shape_.batch * shape_.outputHeight * shape_.outputWidth == 1;
  chunks_ = std::clamp<int64_t>(chunks_, 1, isOnePixel ? 1 : std::max<int64_t>(blocks_, 1));
}

/// Of the blocks of a panel's inputs and their taps, from the first pixel of the first block on. Of a group
/// that begins by half a block, that comes last.
int64_t *Convolver::makeOffsets(int64_t *to, bool beginsByHalf) const {
  for (int64_t block = 0; block < blocks_; ++block) {
    int64_t ofImage = block % imageBlocks_;
    int64_t place = !beginsByHalf                ? ofImage * source_.blockStride
                    : ofImage + 1 < imageBlocks_ ? (ofImage + 1) * source_.blockStride
                                                 : lanes_ / 2;
    for (int64_t y = 0; y < shape_.kernel[0]; ++y)
      for (int64_t x = 0; x < taps_.columns.count(); ++x)
        *to++ = block / imageBlocks_ * shape_.depth.dilation * source_.imageStride + place +
                y * shape_.dilation[0] * source_.rowStride + x * shape_.dilation[1] * source_.pixelStride;
  }
  return to;
}

/// 1x1 without halos: the plane is one row of pixels.
void Convolver::flatten() {
  bool dense = shape_.kernel[0] * shape_.kernel[1] == 1 && source_.stride[0] * source_.stride[1] == 1 &&
               phases_[0] * phases_[1] == 1 && source_.rowStride == width_ * lanes_ &&
               out_.halo.columns == 0 && (!args_.residual.data || args_.residual.halo.columns == 0);
  if (dense) {
    width_ *= rows_;
    rows_ = 1;
  }
}

/// How the work is cut into parts: by the shape alone.
struct Convolver::Cut {
  int64_t images = 1; ///< parts of them, as below
  int64_t rows = 1;   ///< of an image; of the pixels, if there is one row
  int64_t panels = 1;
  bool byPixels = true; ///< a thread has its own pixels, and reads all weights
};

Convolver::Cut Convolver::cut() const {
  int64_t batch = shape_.batch, pixels = batch * rows_ * width_, weights = plan_.weightElements();
  int64_t wanted = std::clamp<int64_t>(weights * (pixels + kWeightWork) / kPartWork, 1, kWantedParts);
  int64_t tile = kernels_.maxRows[plan_.vectors];
  int64_t bands = rows_ == 1 ? std::max<int64_t>(1, width_ / (2 * tile)) : rows_;
  Cut cut;
  // The larger of weights and input is what each part should have to itself.
  cut.byPixels = batch * shape_.inputChannels * shape_.inputHeight * shape_.inputWidth > weights;
  int64_t parts = cut.byPixels ? wanted : divideUp(wanted, panels_.count);
  parts = std::max(parts, pixels / kPartPixels);
  cut.images = std::min(batch, parts);
  cut.rows = std::min(bands, divideUp(parts, batch));
  // Parts of one panel and of two would be uneven.
  int64_t panelParts = divideUp(wanted, cut.images * cut.rows);
  cut.panels = panels_.count < 2 * panelParts ? panels_.count : panelParts;
  return cut;
}

void Convolver::runTiles() {
  flatten();
  Cut cut = this->cut();
  // A thread takes neighbouring parts: they share what was cut.
  int64_t pixelParts = cut.images * cut.rows;
  // Pixels of one row are cut where tiles end: smaller tiles do less for each number that they load.
  int64_t all = rows_ == 1 ? width_ : rows_, unit = rows_ == 1 ? kernels_.maxRows[plan_.vectors] : 1;
  int64_t units = divideUp(all, unit);
  context_.pool.parallelFor(pixelParts * cut.panels, [&](int64_t part) {
    int64_t panel = cut.byPixels ? part % cut.panels : part / pixelParts;
    int64_t rest = cut.byPixels ? part / cut.panels : part % pixelParts;
    int64_t row = rest % cut.rows, image = rest / cut.rows;
    auto range = [](int64_t total, int64_t count, int64_t at) {
      return Range{partBegin(total, count, at), partBegin(total, count, at + 1)};
    };
    Range rows = range(units, cut.rows, row);
    runBand({range(shape_.batch, cut.images, image),
             {std::min(rows.begin * unit, all), std::min(rows.end * unit, all)},
             range(panels_.count, cut.panels, panel)});
  });
}

const float *Convolver::weightsAt(int64_t panel, int64_t block) const {
  int64_t depth = blocks_ * tapsPerBlock_ * depth_;
  return weights_ +
         (panels_.place(panel) * depth + block * tapsPerBlock_ * depth_ * panels_.vectors(panel)) * lanes_;
}

/// Those of the blocks at tile.b, each times the gate of its input channel.
const float *Convolver::gatedWeights(int64_t image, const TileArgs &tile, const Range &blocks) const {
  int64_t rows = blocks.count() * lanes_;
  auto *gated =
      static_cast<float *>(ThreadPool::scratch(rows * tile.bRowStride * int64_t(sizeof(float)), kGated));
  kernels_.scaleRows({.input = static_cast<const float *>(tile.b),
                      .factors = args_.gate + (image * imageBlocks_ + blocks.begin) * lanes_,
                      .rows = rows,
                      .columns = tile.bRowStride,
                      .output = gated});
  return gated;
}

/// What a chunk reads of the band stays in the L2 cache while the panels pass, and the next panel of weights
/// comes there meanwhile: behind the last one the first one's next chunk, and then that of the part behind.
/// Where groups share blocks of outputs, a panel is finished before the next one.
void Convolver::runBand(const Band &band) {
  Tiling tilings[2]; // of panels of the fewest vectors, and of one more
  auto runChunks = [&](const Range &panels) {
    Chunk chunk;
    for (int64_t i = 0; i < chunks_; ++i) {
      chunk = {{chunk.blocks.end, chunkBegin(i + 1)}, i == 0, i + 1 == chunks_};
      runPanels(band, panels, chunk, tilings);
    }
  };
  if (sharesBlocks_)
    for (int64_t panel = band.panels.begin; panel < band.panels.end; ++panel)
      runChunks({panel, panel + 1});
  else
    runChunks(band.panels);
  int64_t begin = panels_.ownBegin(band.panels.begin), end = panels_.ownBegin(band.panels.end);
  bool isFlat = rows_ == 1; // parts are of one row: the first of them clears beside it
  if (phase_[0] + phase_[1] != 0 || (isFlat && band.rows.begin > 0))
    return;
  int64_t above = isFlat ? 0 : band.rows.begin * phases_[0];
  int64_t below = isFlat ? out_.height : band.rows.end * phases_[0];
  for (int64_t image = band.images.begin; image < band.images.end; ++image)
    for (int64_t block = begin; block < end; ++block)
      clearHalo(out_, image, block, above, below);
}

void Convolver::runPanels(const Band &band, const Range &panels, const Chunk &chunk, Tiling (&tilings)[2]) {
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    bool isLast = panel + 1 == panels.end, hasChunk = !chunk.isLast;
    int64_t next = isLast && hasChunk ? panels.begin : panel + 1;
    int64_t nextBlock = !isLast ? chunk.blocks.begin : hasChunk ? chunk.blocks.end : 0;
    int64_t vectors = panels_.vectors(panel);
    Tiling &tiling = tilings[vectors - panels_.fewest];
    if (tiling.count == 0)
      tiling = tilingOf(band, vectors);
    runChunk(band, panel, chunk, tiling, next < panels_.count ? weightsAt(next, nextBlock) : nullptr);
  }
}

/// A chunk of a panel's weights, over all tiles of the band.
void Convolver::runChunk(const Band &band, int64_t panel, const Chunk &chunk, const Tiling &tiling,
                         const float *next) {
  int64_t vectors = panels_.vectors(panel);
  TileArgs tile;
  tile.aRowStride = source_.stride[1] * source_.pixelStride;
  tile.k = depth_;
  tile.blocksAhead = plan_.kind == ConvolutionKind::Direct && tapsPerBlock_ > 1 ? kBlocksAhead : 0;
  tile.bRowStride = vectors * lanes_;
  tile.cRowStride = tile.residualRowStride = phases_[1] * lanes_;
  tile.cVectorStride = sharesBlocks_ ? (rows_ == 1 ? 1 : width_) * band.rows.count() * lanes_ : out_.plane();
  tile.accumulate = !chunk.isFirst;
  tile.residualVectorStride = args_.residual.plane();
  if (chunk.isLast && isTileActivation(args_.epilogue.activation))
    tile.activation = args_.epilogue.activation;
  if (chunk.isLast && args_.epilogue.bias)
    tile.bias = static_cast<const float *>(args_.epilogue.bias) + panels_.begin(panel) * lanes_;
  tile.ahead = next;
  tile.aheadStep = divideUp(tile.bRowStride * int64_t(sizeof(float)), tiling.count);
  for (int64_t image = band.images.begin; image < band.images.end; ++image)
    runImage(band, panel, chunk, tiling.tiles, image, tile);
}

/// The taps that meet the input for any of the outputs of an axis. The others meet padding alone. Only
/// windows with a dilation leave them out: with others little is saved, and infinite weights make NaN as
/// specified.
TapRange Convolver::liveTaps(int axis, int64_t begin, int64_t end) const {
  auto tapsOf = [&](int64_t output) {
    return tapsInside(output * shape_.stride[axis] - shape_.padding[axis],
                      axis == 0 ? shape_.inputHeight : shape_.inputWidth, shape_.kernel[axis],
                      shape_.dilation[axis]);
  };
  int64_t first = tapsOf(end - 1).first; // later outputs meet earlier taps
  return {first, std::max(first, tapsOf(begin).end)};
}

/// Whether the last block of a panel's inputs is half a block: of channels that there are, or of the group's.
bool Convolver::endsByHalf() const {
  if (plan_.kind != ConvolutionKind::Direct || shape_.depth.kernel > 1)
    return false;
  return inputs_.channels(inputs_.count - 1) <= lanes_ / 2;
}

/// The tile sums over the taps of the image's blocks, whose weights lie at tile.b.
void Convolver::takeTaps(const ImageRun &image, TileArgs &tile) const {
  const Taps &taps = image.taken;
  const Range &blocks = image.blocks;
  tile.blocks = blocks.count() * taps.rows.count() * taps.columns.count();
  bool isHalf = blocks.end == blocks_ && blocks.count() > 0 && endsByHalf();
  tile.halfBlocks = isHalf ? taps.rows.count() * taps.columns.count() : 0;
  tile.aOffsets = image.offsets + blocks.begin * tapsPerBlock_;
  tile.bOffsets = nullptr;
  if (taps == taps_)
    return;
  auto *a = static_cast<int64_t *>(
      ThreadPool::scratch((2 * tile.blocks + kBlocksAhead) * sizeof(int64_t), kLiveTaps));
  int64_t *b = a + tile.blocks + kBlocksAhead, step = tile.k * tile.bRowStride;
  const int64_t *all = tile.aOffsets;
  tile.aOffsets = a;
  tile.bOffsets = b;
  for (int64_t block = 0; block < blocks.count(); ++block)
    for (int64_t y = taps.rows.first; y < taps.rows.end; ++y)
      for (int64_t x = taps.columns.first; x < taps.columns.end; ++x) {
        int64_t entry = block * tapsPerBlock_ + y * taps_.columns.count() + x;
        *a++ = all[entry];
        *b++ = entry * step;
      }
  std::fill_n(a, kBlocksAhead, 0);
}

/// A row of an image: runs of tiles that take the same taps.
void Convolver::runRow(ImageRun &image, int64_t y, bool isLastRow, TileArgs &tile) const {
  int64_t vectors = tile.bRowStride / lanes_;
  bool planar = plan_.kind == ConvolutionKind::Planar;
  image.tiles.eachRun([&](int64_t from, int64_t count, int64_t alike) {
    tile.tiles = shape_.dilation[1] > 1 ? 1 : alike;
    for (int64_t x = image.pixels.begin + from, end = x + alike * count; x < end; x += tile.tiles * count) {
      Taps live = image.taken;
      if (shape_.dilation[0] > 1)
        live.rows = liveTaps(0, y, y + 1);
      if (shape_.dilation[1] > 1)
        live.columns = liveTaps(1, x, x + count);
      if (live != image.taken) {
        image.taken = live;
        takeTaps(image, tile);
      }
      tile.a = image.input + y * image.inputRow + x * tile.aRowStride;
      tile.c = image.output + y * image.outputRow + x * tile.cRowStride;
      if (image.residual)
        tile.residual = image.residual + y * image.residualRow + x * tile.residualRowStride;
      // Rows of planes are so near to each other that the processor fetches them itself.
      bool fetchesNext = !planar && tile.blocksAhead == 0;
      int64_t last = x + (tile.tiles - 1) * count - image.pixels.begin;
      tile.aAhead = fetchesNext ? count * tile.aRowStride : 0;
      tile.lastAhead = !fetchesNext || last + count < image.pixels.count() ? tile.aAhead
                       : isLastRow ? 0
                                   : image.inputRow - last * tile.aRowStride;
      kernels_.tiles[kF32][vectors][count](tile);
      if (tile.ahead)
        tile.ahead =
            static_cast<const char *>(tile.ahead) + tile.aheadStep * tile.tiles * tile.blocks * tile.k;
    }
  });
}

void Convolver::runRows(ImageRun &image, TileArgs &tile) const {
  for (int64_t y = image.rows.begin; image.tiles.tiles > 0 && y < image.rows.end; ++y)
    runRow(image, y, y + 1 == image.rows.end, tile);
}

/// The columns behind those of `tiles`: rows of an image whose rows and columns change places.
void Convolver::runColumns(ImageRun image, const PlaneTiles &tiles, TileArgs tile) const {
  std::swap(image.rows, image.pixels);
  image.rows.begin += tiles.columns;
  image.tiles = tiles.ofColumn;
  std::swap(image.inputRow, tile.aRowStride);
  std::swap(image.outputRow, tile.cRowStride);
  std::swap(image.residualRow, tile.residualRowStride);
  runRows(image, tile);
}

Convolver::Tiling Convolver::tilingOf(const Band &band, int64_t vectors) const {
  constexpr int64_t kEnoughSums = 10;
  int64_t most = kernels_.maxRows[vectors], rows = band.rows.count(), width = width_;
  if (rows_ == 1)
    width = std::exchange(rows, 1);
  bool tapsDiffer = shape_.dilation[0] * shape_.dilation[1] > 1; // from row to row
  PlaneTiles tiles = rows_ == 1 || tapsDiffer ? PlaneTiles{width, EvenTiles(width, divideUp(width, most)), {}}
                                              : planeTiles(rows, width, most, divideUp(kEnoughSums, vectors));
  return {tiles, tiles.count(rows, width) * band.images.count()};
}

/// Of one image: `tile` has what all tiles have in common.
void Convolver::runImage(const Band &band, int64_t panel, const Chunk &chunk, const PlaneTiles &tiles,
                         int64_t image, TileArgs &tile) {
  bool flat = rows_ == 1, planar = plan_.kind == ConvolutionKind::Planar;
  int64_t vectors = panels_.vectors(panel), block = panels_.begin(panel), group = panels_.group(panel);
  auto firstOf = [&](const BlockedTensor &tensor) {
    return tensor.at(image, block) + (phase_[0] * tensor.paddedWidth() + phase_[1]) * lanes_;
  };
  DepthWindow::Taps depth = shape_.depth.tapsOf(image);
  ImageRun run;
  run.rows = flat ? Range{0, 1} : band.rows;
  run.pixels = flat ? band.rows : Range{0, width_};
  run.input = source_.data + depth.image * source_.imageStride +
              (planar ? 0 : inputs_.first(group)) * source_.blockStride;
  run.offsets = offsets_[!planar && inputs_.beginsByHalf(group)];
  run.inputRow = source_.stride[0] * source_.rowStride;
  run.output = firstOf(out_);
  run.outputRow = phases_[0] * out_.paddedWidth() * lanes_;
  if (sharesBlocks_) { // beside the output, of which only the group's lanes are the panel's
    run.outputRow = width_ * lanes_;
    int64_t floats = vectors * tile.cVectorStride; // of an image
    run.output =
        static_cast<float *>(
            ThreadPool::scratch(band.images.count() * floats * int64_t(sizeof(float)), kGroupStage)) +
        (image - band.images.begin) * floats - run.rows.begin * run.outputRow - run.pixels.begin * lanes_;
  }
  run.residualRow = phases_[0] * args_.residual.paddedWidth() * lanes_;
  if (chunk.isFirst && args_.addsResidualFirst())
    run.residual = firstOf(args_.residual);
  bool isFinished =
      !chunk.isLast || (!hasFinish() && (sharesBlocks_ || (block + vectors) * lanes_ <= out_.channels));
  // Of the chunk, the blocks that lie in the images which this one reads, counted from the first of these.
  int64_t first = depth.range.first * imageBlocks_;
  run.blocks = {std::max(chunk.blocks.begin, first),
                std::min(chunk.blocks.end, depth.range.end * imageBlocks_)};
  tile.b = weightsAt(panel, run.blocks.begin);
  run.blocks = {run.blocks.begin - first, std::max(run.blocks.begin, run.blocks.end) - first};
  if (args_.gate)
    tile.b = gatedWeights(image, tile, run.blocks);
  run.taken = taps_;
  takeTaps(run, tile);
  ImageRun alongRows = run;
  alongRows.pixels.end = run.pixels.begin + tiles.columns;
  alongRows.tiles = tiles.ofRow;
  runRows(alongRows, tile);
  if (tiles.ofColumn.tiles > 0)
    runColumns(run, tiles, tile);
  if (args_.addsResidualLast)
    run.residual = firstOf(args_.residual);
  for (int64_t y = run.rows.begin; !isFinished && y < run.rows.end; ++y)
    finishRow(block, tile, run.output + y * run.outputRow + run.pixels.begin * tile.cRowStride,
              run.residual ? run.residual + y * run.residualRow + run.pixels.begin * tile.residualRowStride
                           : nullptr,
              run.pixels.count());
  if (chunk.isLast && sharesBlocks_)
    takeLanes(image, panel, run, tile);
}

/// The lanes of the panel's group, of all rows, to the output, and zeros behind its last channel.
void Convolver::takeLanes(int64_t image, int64_t panel, const ImageRun &run, const TileArgs &tile) const {
  int64_t outputs = shape_.outputChannels / shape_.groups, first = panels_.group(panel) * outputs;
  const float *from = run.output;
  for (int64_t v = 0; v < panels_.vectors(panel); ++v, from += tile.cVectorStride) {
    int64_t block = panels_.begin(panel) + v;
    int64_t begin = std::max(first - block * lanes_, int64_t(0));
    int64_t end = std::min(first + outputs - block * lanes_, lanes_);
    for (int64_t y = run.rows.begin; y < run.rows.end; ++y) {
      int64_t place = run.pixels.begin * lanes_;
      float *to = out_.at(image, block) + y * out_.paddedWidth() * lanes_ + place;
      copyPixels(to + begin, lanes_, from + y * run.outputRow + place + begin, lanes_, run.pixels.count(),
                 end - begin);
      if (end == out_.channels - block * lanes_)
        clearLanes(out_, block, to, run.pixels.count());
    }
  }
}

void Convolver::finishRow(int64_t block, const TileArgs &tile, float *pixel, const float *residual,
                          int64_t pixels) {
  int64_t vectors = tile.bRowStride / lanes_;
  int64_t runs = phases_[1] == 1 ? 1 : pixels, length = pixels / runs, step = phases_[1] * lanes_;
  LaneFactorsJob job;
  job.pixels.outputRowStride = job.residualRowStride = step;
  job.pixels.rows = runs;
  job.pixels.columns = length;
  for (int64_t v = 0; v < vectors; ++v, pixel += tile.cVectorStride) {
    if (!isTileActivation(args_.epilogue.activation))
      kernels_.activate(args_.epilogue.activation, pixel, step, runs, length * lanes_);
    job.pixels.output = pixel;
    if (residual)
      job.residual = residual + v * args_.residual.plane();
    scaleChannels(kernels_, args_, block + v, job);
    for (int64_t run = 0; run < runs && !sharesBlocks_; ++run)
      clearLanes(out_, block + v, pixel + run * step, length);
  }
}

/// Where the taps of a kernel lie in a block of the input.
void Convolver::makeTaps() {
  int64_t taps = shape_.kernel[0] * shape_.kernel[1], all = shape_.depth.kernel * taps;
  auto *offsets = static_cast<int64_t *>(ThreadPool::scratch(all * sizeof(int64_t), kRowTaps));
  for (int64_t i = 0; i < all; ++i) {
    int64_t tap = i % taps;
    offsets[i] = i / taps * shape_.depth.dilation * source_.imageStride +
                 tap / shape_.kernel[1] * shape_.dilation[0] * source_.rowStride +
                 tap % shape_.kernel[1] * shape_.dilation[1] * lanes_;
  }
  offsets_[0] = offsets;
}

/// body(image, block, rows) computes rows of a block of the output up to the activation, for
/// all rows of each, in parts. They are cut as the convolution before and the one behind are, mostly: a
/// thread finds its own results in its cache.
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
      body(image, block, Range{begin, end});
      finishRows(image, block, {begin, end});
    }
  });
}

/// What follows the activation, and the zeros around the rows of a block.
void Convolver::finishRows(int64_t image, int64_t block, const Range &rows) const {
  scaleRows(image, block, rows.begin, rows.end);
  if ((block + 1) * lanes_ > out_.channels)
    for (int64_t y = rows.begin; y < rows.end; ++y)
      clearLanes(out_, block, out_.at(image, block) + y * out_.paddedWidth() * lanes_, width_);
  clearHalo(out_, image, block, rows.begin, rows.end);
}

void Convolver::scaleRows(int64_t image, int64_t block, int64_t begin, int64_t end) const {
  if (!args_.hasLastStage())
    return;
  const BlockedTensor &residual = args_.residual;
  LaneFactorsJob job;
  job.pixels.outputRowStride = out_.paddedWidth() * lanes_;
  job.pixels.output = out_.at(image, block) + begin * job.pixels.outputRowStride;
  job.pixels.rows = end - begin;
  job.pixels.columns = width_;
  if (args_.addsResidualLast) {
    job.residualRowStride = residual.paddedWidth() * lanes_;
    job.residual = residual.at(image, block) + begin * job.residualRowStride;
  }
  scaleChannels(kernels_, args_, block, job);
}

/// What the jobs of rows have in common.
template <class Job> Job Convolver::rowsJob(int64_t image, int64_t block, const Range &rows) const {
  Job job;
  DepthWindow::Taps depth = shape_.depth.tapsOf(image);
  job.taps = offsets_[0];
  job.tapCount = depth.range.count() * shape_.kernel[0] * shape_.kernel[1];
  job.tapsTogether = shape_.dilation[1] == 1 ? shape_.kernel[1] : 1;
  job.step = source_.stride[1] * lanes_;
  job.pixels = width_;
  job.rows = rows.count();
  job.inputRowStride = source_.stride[0] * source_.rowStride;
  job.input = source_.data + depth.image * source_.imageStride + rows.begin * job.inputRowStride;
  job.outputRowStride = out_.paddedWidth() * lanes_;
  job.output = out_.at(image, block) + rows.begin * job.outputRowStride;
  job.activation = args_.epilogue.activation;
  if (args_.epilogue.bias)
    job.bias = static_cast<const float *>(args_.epilogue.bias) + block * lanes_;
  job.residualRowStride = args_.residual.paddedWidth() * lanes_;
  if (args_.addsResidualFirst())
    job.residual = args_.residual.at(image, block) + rows.begin * job.residualRowStride;
  return job;
}

/// Up to the activation.
void Convolver::depthwiseRows(int64_t image, int64_t block, const Range &rows) const {
  int64_t taps = shape_.kernel[0] * shape_.kernel[1];
  auto job = rowsJob<TapsJob>(image, block, rows);
  job.input += block * source_.blockStride;
  job.weights =
      weights_ + (block * shape_.depth.kernel + shape_.depth.tapsOf(image).range.first) * taps * lanes_;
  kernels_.depthwise(job);
}

void Convolver::runDepthwise() {
  eachBand([&](int64_t image, int64_t block, const Range &rows) { depthwiseRows(image, block, rows); });
}

void Convolver::runGrouped() {
  int64_t elements = groupedBlockElements(plan_);
  GroupedLanes lanes = groupedLanes(plan_);
  eachBand([&](int64_t image, int64_t block, const Range &rows) {
    auto job = rowsJob<GroupedJob>(image, block, rows);
    job.blockStride = source_.blockStride;
    job.lanes = lanes;
    job.steps = weights_ + block * elements;
    job.stepCount = job.tapCount > 0 ? plan_.groupSteps : 0;
    groupedRows(plan_.isa, job);
  });
}

namespace {

void convolvePhases(const Context &context, const ConvolutionArgs &args) {
  ConvolutionArgs wide = args;
  wide.input = inputWithHalo(context, args);
  const float *weights = args.weights;
  eachPhase(args.plan, [&](const PhasePlan &phase) {
    Convolver(context, wide, phase.plan, weights, phase.firstOutput[0], phase.firstOutput[1]).run();
    weights += phase.plan.weightElements();
  });
}

} // namespace

bool canGate(const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  return plan.kind == ConvolutionKind::Direct && shape.groups == 1 && shape.phaseCount() == 1 &&
         shape.kernel[0] * shape.kernel[1] == 1 && shape.depth.isFlat();
}

void convolve(const Context &context, const ConvolutionArgs &args) {
  if (winogradPoints(args.plan.kind))
    convolveWinograd(context, args);
  else if (args.plan.shape.phaseCount() > 1)
    convolvePhases(context, args);
  else
    Convolver(context, args).run();
}

} // namespace torchere::cpu
