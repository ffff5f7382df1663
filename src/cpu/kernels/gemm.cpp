// How the parts of a product go over their chunks of K, panels and tiles.
#include "cpu/kernels/gemm.h"

#include "cpu/kernels/gemm_product.h"
#include "cpu/kernels/panel_packing.h"
#include "cpu/kernels/tile_runs.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {
namespace {

/// Multiply-adds of a part that computes whole batches.
constexpr int64_t kBatchesWork = 50000;
constexpr int64_t kMostFetchedBytes = 4096; ///< of a row
/// Weights of a piece of a cell that the L1 cache holds a part of: every other turn begins with those that
/// were last.
constexpr int64_t kMostBytesToAndFro = 131072;
/// Of so many columns one may be zeros for a better tile.
constexpr int64_t kWorthwhileColumns = 100;

/// The rows and panels of one part, and its memory.
class Part {
public:
  Part(const Product &product, int64_t index);
  /// Panels of all rows, which are few.
  Part(const Product &product, int64_t firstPanel, int64_t endPanel);
  /// The panels, and those that lie in the same place in each of the runs of so many panels behind; the last
  /// run first if `isBackwards`.
  void run(int64_t runs = 1, int64_t panelsOfRun = 0, bool isBackwards = false);

private:
  bool hasPlainPanels() const;
  void runPlainPanels(TileArgs tile) const;
  void fetchRows() const;
  void prepareRows(int64_t chunk);
  TileArgs tileOf(int64_t chunk) const;
  const void *convertedPanel(int64_t panel, int64_t chunk) const;
  void runPanels(TileArgs &tile, int64_t chunk);
  void runPanel(TileArgs &tile, int64_t panel, int64_t chunk);
  void finishPanel(int64_t panel);
  const char *packedAt(int64_t panel, int64_t chunk) const {
    return at(at(p_.args.packedB, batch_ * p_.args.packedBBatchStride, 1),
              (panel * p_.steps + chunkBegin(chunk)) * p_.stepRows * p_.panelColumns, p_.bSize);
  }
  /// Whether all chunks of a panel are computed before the next one. Of few rows the weights are one stream
  /// from memory; a matrix unit's sums stay in the L1 cache.
  bool goesByPanels() const {
    return (!p_.packRows || p_.sharedRows) && (p_.args.m <= kFewRows || p_.matrixTile) && p_.chunks > 1;
  }
  bool staged(int64_t panel) const { return p_.stageAll || (panel + 1) * p_.panelColumns > p_.args.layout.n; }
  /// In steps.
  int64_t chunkBegin(int64_t chunk) const {
    if (p_.chunks == 1)
      return chunk * p_.steps;
    int64_t whole = std::max<int64_t>(1, p_.elementRows / p_.stepRows); // an element of A is in one chunk
    return std::min(partBegin(divideUp(p_.steps, whole), p_.chunks, chunk) * whole, p_.steps);
  }
  /// How many panels lie beside each other there: one that is finished makes room for the next.
  int64_t stagedPanels() const { return p_.chunks == 1 || goesByPanels() ? 1 : endPanel_ - firstPanel_; }
  char *stage(int64_t panel) {
    return at(stage_, (panel - firstPanel_) % stagedPanels() * p_.panelColumns, p_.sumSize);
  }
  int64_t stageStride() const { return stagedPanels() * p_.panelColumns; }
  void fetchAhead(int64_t panel, int64_t chunk, TileArgs &tile) const;
  const void *biasAt(int64_t column) const;
  const void *residualAt(int64_t row, int64_t column) const;

  void countTiles();

  const Product &p_;
  int64_t batch_, firstRow_, endRow_, firstPanel_, endPanel_;
  EvenTiles tiles_;         ///< of a panel
  const void *a_ = nullptr; ///< of this chunk
  int64_t aStride_ = 0;
  void *stage_ = nullptr;
};

Part::Part(const Product &product, int64_t index) : p_(product) {
  int64_t column = index % p_.columnParts, rest = index / p_.columnParts;
  int64_t row = rest % p_.rowParts;
  batch_ = rest / p_.rowParts;
  firstRow_ = partBegin(p_.args.m, p_.rowParts, row);
  endRow_ = partBegin(p_.args.m, p_.rowParts, row + 1);
  firstPanel_ = partBegin(p_.panels, p_.columnParts, column);
  endPanel_ = partBegin(p_.panels, p_.columnParts, column + 1);
  countTiles();
}

Part::Part(const Product &product, int64_t firstPanel, int64_t endPanel)
    : p_(product), batch_(0), firstRow_(0), endRow_(product.args.m), firstPanel_(firstPanel),
      endPanel_(endPanel) {
  countTiles();
}

void Part::countTiles() {
  int64_t rows = endRow_ - firstRow_, most = p_.tileRows();
  tiles_ = EvenTiles(rows, rows <= most ? 1 : divideUp(rows, most));
}

const void *Part::biasAt(int64_t column) const {
  const void *bias = p_.args.epilogue.bias;
  return bias ? at(bias, column, p_.sumSize) : nullptr;
}

const void *Part::residualAt(int64_t row, int64_t column) const {
  const Epilogue &epilogue = p_.args.epilogue;
  int64_t place = batch_ * epilogue.residualBatchStride + row * epilogue.residualRowStride + column;
  return epilogue.residual ? at(epilogue.residual, place, p_.cSize) : nullptr;
}

void Part::run(int64_t runs, int64_t panelsOfRun, bool isBackwards) {
  if (firstRow_ == endRow_ || firstPanel_ == endPanel_)
    return;
  if (staged(endPanel_ - 1 + (runs - 1) * panelsOfRun))
    stage_ = ThreadPool::scratch((endRow_ - firstRow_) * stageStride() * p_.sumSize, kStage);
  fetchRows();
  TileArgs tile;
  int64_t prepared = -1;
  auto prepare = [&](int64_t chunk) {
    if (chunk == prepared)
      return;
    prepareRows(chunk);
    tile = tileOf(chunk);
    prepared = chunk;
  };
  const int64_t step = isBackwards ? -panelsOfRun : panelsOfRun;
  if (isBackwards) {
    firstPanel_ += (runs - 1) * panelsOfRun;
    endPanel_ += (runs - 1) * panelsOfRun;
  }
  for (int64_t i = 0; i < runs; ++i, firstPanel_ += step, endPanel_ += step)
    if (goesByPanels()) {
      for (int64_t panel = firstPanel_; panel < endPanel_; ++panel)
        for (int64_t chunk = 0; chunk < p_.chunks; ++chunk) {
          prepare(chunk);
          runPanel(tile, panel, chunk);
        }
    } else {
      for (int64_t chunk = 0; chunk < p_.chunks; ++chunk) {
        prepare(chunk);
        runPanels(tile, chunk);
      }
    }
}

void Part::runPanels(TileArgs &tile, int64_t chunk) {
  if (hasPlainPanels())
    return runPlainPanels(tile);
  for (int64_t panel = firstPanel_; panel < endPanel_; ++panel)
    runPanel(tile, panel, chunk);
}

/// Whether the panels are one small tile each, which leaves nothing to be done behind it.
bool Part::hasPlainPanels() const {
  return !p_.packRows && p_.chunks == 1 && endRow_ - firstRow_ <= kFewRows && tiles_.tiles == 1 &&
         !staged(endPanel_ - 1);
}

/// Of few rows a tile takes so little time that what is the same for all panels is worked out once.
void Part::runPlainPanels(TileArgs tile) const {
  const GemmArgs &args = p_.args;
  const int64_t column = firstPanel_ * p_.panelColumns, size = p_.sumSize, bytes = args.layout.panelBytes();
  tile.a = a_;
  tile.b = packedAt(firstPanel_, 0);
  tile.cRowStride = args.cRowStride;
  tile.activation = args.epilogue.activation;
  tile.c = at(args.c, batch_ * args.cBatchStride + firstRow_ * args.cRowStride + column, p_.cSize);
  tile.bias = biasAt(column);
  tile.residual = residualAt(firstRow_, column);
  TileFunction function = p_.tileOf(endRow_ - firstRow_);
  for (int64_t panel = firstPanel_; panel < endPanel_; ++panel) {
    function(tile);
    tile.b = at(tile.b, bytes, 1);
    tile.c = at(tile.c, p_.panelColumns, size);
    tile.bias = tile.bias ? at(tile.bias, p_.panelColumns, size) : nullptr;
    tile.residual = tile.residual ? at(tile.residual, p_.panelColumns, size) : nullptr;
  }
}

/// Few rows were often just written by another thread: their lines come at once, not one after the other.
void Part::fetchRows() const {
  int64_t bytes = p_.args.layout.k * p_.aSize;
  if (p_.packRows || endRow_ - firstRow_ > kFewRows || bytes > kMostFetchedBytes)
    return;
  for (int64_t row = firstRow_; row < endRow_; ++row)
    for (int64_t byte = 0; byte < bytes; byte += 64)
      __builtin_prefetch(p_.rowsAt(batch_, row, 0) + byte);
}

void Part::prepareRows(int64_t chunk) {
  int64_t begin = chunkBegin(chunk), end = chunkBegin(chunk + 1);
  if (p_.sharedRows) {
    aStride_ = p_.sharedRowStride;
    a_ = at(p_.sharedRows, (batch_ * p_.args.m + firstRow_) * aStride_ + p_.elementsOf(begin), p_.sumSize);
    return;
  }
  const char *first = p_.rowsAt(batch_, firstRow_, begin * p_.stepRows);
  if (!p_.packRows) {
    a_ = first;
    aStride_ = p_.args.aRowStride * p_.aSize / p_.sumSize;
    return;
  }
  int64_t rows = endRow_ - firstRow_;
  int64_t depth = std::min(end * p_.stepRows, p_.args.layout.k) - begin * p_.stepRows;
  aStride_ = packedRowStride(p_.elementsOf(end - begin), p_.sumSize);
  void *packed = ThreadPool::scratch(rows * aStride_ * p_.sumSize, kPackedRows);
  p_.packRowsOf(first, rows, depth, packed, aStride_);
  a_ = packed;
}

/// While the tiles of a panel are computed, the next one comes into the L2 cache: weights lie in memory.
void Part::fetchAhead(int64_t panel, int64_t chunk, TileArgs &tile) const {
  bool isLast = panel + 1 == endPanel_, isSameChunk = !isLast || (p_.matrixTile && goesByPanels());
  bool hasChunk = chunk + 1 < p_.chunks && !isSameChunk;
  tile.ahead = nullptr;
  if (isLast && !hasChunk && endPanel_ == p_.panels)
    return;
  // Behind the last panel come the first one's next chunk, and then the next part's first chunk.
  int64_t next = !isLast ? panel + 1 : hasChunk ? firstPanel_ : endPanel_;
  tile.ahead = packedAt(next, isSameChunk ? chunk : hasChunk ? chunk + 1 : 0);
}

/// What the tiles of all panels share.
TileArgs Part::tileOf(int64_t chunk) const {
  int64_t steps = chunkBegin(chunk + 1) - chunkBegin(chunk);
  TileArgs tile;
  tile.aRowStride = aStride_;
  tile.k = p_.type == kBF16 && !p_.convertPanel ? steps : p_.elementsOf(steps);
  int64_t bytes = p_.panelColumns * p_.bSize * p_.stepRows * steps /
                  std::max<int64_t>(tile.k, 1); // of a step of the tile
  tile.bRowStride = p_.panelColumns;
  tile.cVectorStride = p_.vectorElements;
  tile.accumulate = chunk > 0;
  tile.residualRowStride = p_.args.epilogue.residualRowStride;
  tile.residualVectorStride = tile.cVectorStride;
  tile.aheadStep = tiles_.tiles == 1 ? bytes : divideUp(bytes, tiles_.tiles);
  return tile;
}

/// The panel's chunk as tiles take it.
const void *Part::convertedPanel(int64_t panel, int64_t chunk) const {
  if (!p_.convertPanel)
    return packedAt(panel, chunk);
  int64_t steps = chunkBegin(chunk + 1) - chunkBegin(chunk), columns = p_.panelColumns;
  void *converted = ThreadPool::scratch(p_.elementsOf(steps) * columns * sizeof(float), kConvertedPanel);
  p_.convertPanel(packedAt(panel, chunk), steps, columns, converted);
  return converted;
}

void Part::runPanel(TileArgs &tile, int64_t panel, int64_t chunk) {
  const GemmArgs &args = p_.args;
  int64_t column = panel * p_.panelColumns;
  bool last = chunk + 1 == p_.chunks, beside = staged(panel), finishes = last && !beside;
  tile.b = convertedPanel(panel, chunk);
  tile.cRowStride = beside ? stageStride() : args.cRowStride;
  tile.bias = finishes ? biasAt(column) : nullptr;
  tile.activation = finishes ? args.epilogue.activation : Activation::None;
  fetchAhead(panel, chunk, tile);
  tiles_.eachRun([&](int64_t from, int64_t count, int64_t tiles) {
    int64_t row = firstRow_ + from;
    int64_t place = batch_ * args.cBatchStride + row * args.cRowStride + column;
    tile.tiles = tiles;
    tile.rows = count;
    tile.a = at(a_, from * aStride_, p_.sumSize);
    tile.c = beside ? at(static_cast<void *>(stage(panel)), from * tile.cRowStride, p_.sumSize)
                    : at(args.c, place, p_.cSize);
    tile.residual = finishes ? residualAt(row, column) : nullptr;
    p_.tileOf(count)(tile);
    if (tile.ahead)
      tile.ahead = at(tile.ahead, tile.aheadStep * tile.k * tiles, 1);
  });
  if (last && beside)
    finishPanel(panel);
}

void Part::finishPanel(int64_t panel) {
  const GemmArgs &args = p_.args;
  const Epilogue &epilogue = args.epilogue;
  int64_t column = panel * p_.panelColumns, columns = std::min(p_.panelColumns, args.layout.n - column);
  int64_t rows = endRow_ - firstRow_;
  FinishArgs finish;
  finish.tile = stage(panel);
  finish.tileRowStride = stageStride();
  finish.c = at(args.c, batch_ * args.cBatchStride + firstRow_ * args.cRowStride + column, p_.cSize);
  finish.cRowStride = args.cRowStride;
  finish.rows = rows;
  finish.columns = columns;
  finish.bias = biasAt(column);
  finish.residual = residualAt(firstRow_, column);
  finish.residualRowStride = epilogue.residualRowStride;
  finish.activation = epilogue.activation;
  p_.kernels.finish[floatType(args.cType)](finish);
}

} // namespace

int64_t PackedLayout::panelColumns() const {
  return vectors * floatLanes(isa) * 4 / (byteSize(type) == 8 ? 8 : 4);
}
int64_t PackedLayout::panels() const {
  return divideUp(n, panelColumns());
}
int64_t PackedLayout::stepRows() const {
  return type == DType::BF16 || byteSize(type) == 1 ? 2 : 1;
}
int64_t PackedLayout::steps() const {
  return divideUp(k, stepRows());
}
int64_t PackedLayout::panelBytes() const {
  return steps() * stepRows() * panelColumns() * static_cast<int64_t>(byteSize(type));
}
int64_t PackedLayout::bytes() const {
  return panels() * panelBytes();
}

PackedLayout packedLayout(DType type, Isa isa, int64_t m, int64_t k, int64_t n) {
  PackedLayout layout{type, isa, 1, k, n};
  int64_t lanes = layout.panelColumns();
  // Tiles of other types than f32 have two vectors at most. Of few rows wide panels are best. Of many 14 x 2
  // is the best tile on AVX-512, 9 x 3 only where it wastes fewer columns; on AVX2 4 x 3 loads less for each
  // multiply-add than 6 x 2, which is worth some columns.
  bool isFew = m <= kFewRows;
  int64_t most = 2, preferred = 2, worth = 0;
  auto columnsOf = [&](int64_t vectors) { return divideUp(n, vectors * lanes) * vectors * lanes; };
  if (type == DType::F32 && isa == Isa::Avx512) {
    most = isFew ? 4 : 3;
    preferred = isFew ? 4 : 2;
  } else if (type == DType::F32 && isa == Isa::Avx2 && !isFew) {
    most = preferred = 3;
    worth = columnsOf(preferred) / kWorthwhileColumns;
  }
  layout.vectors = static_cast<int32_t>(preferred);
  int64_t best = columnsOf(preferred) - worth;
  for (int64_t vectors = most; vectors > 0; --vectors)
    if (columnsOf(vectors) < best) {
      best = columnsOf(vectors);
      layout.vectors = static_cast<int32_t>(vectors);
    }
  return layout;
}

void packMatrix(const Context &context, const PackedLayout &layout, const void *b, int64_t rowStride,
                int64_t columnStride, void *packed) {
  const IsaKernels &kernels = kernelsOf(layout.isa);
  int64_t size = byteSize(layout.type), columns = layout.panelColumns();
  context.pool.parallelFor(layout.panels(), [&](int64_t panel) {
    packPanel(kernels, floatType(layout.type), size,
              {at(b, panel * columns * columnStride, size), rowStride, columnStride, layout.k,
               std::min(columns, layout.n - panel * columns), at(packed, panel * layout.panelBytes(), 1),
               columns},
              /*isPadded=*/false, layout.stepRows());
  });
}

void gemm(const Context &context, const GemmArgs &args) {
  if (args.m == 0 || args.layout.n == 0 || args.batches == 0)
    return;
  Product product(args, kernelsOf(args.layout.isa));
  product.shareRows(context.pool);
  context.pool.parallelFor(args.batches * product.rowParts * product.columnParts,
                           [&](int64_t index) { Part(product, index).run(); });
}

namespace {

/// A panel of the B of one batch.
void packBatch(const MatmulArgs &args, const IsaKernels &kernels, int64_t batch, int64_t panel, void *to,
               bool isPadded = false) {
  const PackedLayout &layout = args.gemm.layout;
  int64_t size = byteSize(layout.type), columns = layout.panelColumns();
  packPanel(kernels, floatType(layout.type), size,
            {at(args.b, batch * args.bBatchStride + panel * columns * args.bColumnStride, size),
             args.bRowStride, args.bColumnStride, layout.k, std::min(columns, layout.n - panel * columns), to,
             columns},
            isPadded, layout.stepRows());
}

/// Whether each batch is small enough to be one part, which packs its own B.
bool isOfSmallBatches(const MatmulArgs &args) {
  const GemmArgs &gemm = args.gemm;
  if (gemm.batches < 2 || args.bBatchStride == 0 || gemm.m == 0)
    return false;
  Product product(gemm, kernelsOf(gemm.layout.isa));
  return product.rowParts * product.columnParts == 1;
}

/// Each B is packed by the thread that multiplies by it, and stays in its cache until then.
void multiplySmallBatches(const Context &context, const MatmulArgs &args) {
  const GemmArgs &gemm = args.gemm;
  const IsaKernels &kernels = kernelsOf(gemm.layout.isa);
  int64_t panelBytes = gemm.layout.panelBytes();
  int64_t work = std::max<int64_t>(1, gemm.m * gemm.layout.k * gemm.layout.n);
  int64_t parts =
      std::clamp<int64_t>(gemm.batches / std::max<int64_t>(1, kBatchesWork / work), 1, gemm.batches);
  context.pool.parallelFor(parts, [&](int64_t part) {
    void *packed = ThreadPool::scratch(static_cast<size_t>(gemm.layout.bytes()), kPackedColumns);
    GemmArgs own = gemm;
    own.packedB = packed;
    own.packedBBatchStride = 0;
    Product product(own, kernels);
    std::memset(packed, 0, static_cast<size_t>(gemm.layout.bytes())); // the columns that all batches lack
    int64_t end = partBegin(gemm.batches, parts, part + 1);
    for (int64_t batch = partBegin(gemm.batches, parts, part); batch < end; ++batch) {
      for (int64_t panel = 0; panel < gemm.layout.panels(); ++panel)
        packBatch(args, kernels, batch, panel, at(packed, panel * panelBytes, 1), /*isPadded=*/true);
      Part(product, batch).run();
    }
  });
}

} // namespace

void gemmByRuns(const Context &context, const GemmArgs &args, int64_t runs, int64_t pieces,
                const std::function<void(int64_t piece)> &finish) {
  Product product(args, kernelsOf(args.layout.isa));
  int64_t ofRun = product.panels / runs, ofPiece = ofRun / pieces;
  context.pool.parallelFor(pieces, [&](int64_t piece) {
    static thread_local bool isBackwards = false;
    isBackwards = !isBackwards && runs * ofPiece * args.layout.panelBytes() <= kMostBytesToAndFro;
    Part(product, piece * ofPiece, (piece + 1) * ofPiece).run(runs, ofRun, isBackwards);
    finish(piece);
  });
}

int64_t matmulWorkspaceBytes(const MatmulArgs &args) {
  if (isOfSmallBatches(args))
    return 0;
  return args.gemm.layout.bytes() * (args.bBatchStride == 0 ? 1 : args.gemm.batches);
}

void matmul(const Context &context, const MatmulArgs &args) {
  if (args.gemm.m == 0 || args.gemm.layout.n == 0 || args.gemm.batches == 0)
    return;
  if (isOfSmallBatches(args))
    return multiplySmallBatches(context, args);
  const PackedLayout &layout = args.gemm.layout;
  const IsaKernels &kernels = kernelsOf(layout.isa);
  int64_t panels = layout.panels(), panelBytes = layout.panelBytes();
  int64_t packedBatches = args.bBatchStride == 0 ? 1 : args.gemm.batches;
  context.pool.parallelFor(packedBatches * panels, [&](int64_t part) {
    packBatch(args, kernels, part / panels, part % panels, at(args.workspace, part * panelBytes, 1));
  });
  GemmArgs packed = args.gemm;
  packed.packedB = args.workspace;
  packed.packedBBatchStride = args.bBatchStride == 0 ? 0 : layout.bytes();
  gemm(context, packed);
}

} // namespace torchere::cpu
