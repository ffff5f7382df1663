// How a product is cut into parts, chunks of K and tiles.
#include "cpu/kernels/gemm.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/panel_packing.h"
#include "cpu/kernels/tile_runs.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {
namespace {

/// Rows of a part: its chunk of A stays in the L2 cache, and each part reads its weights once for all of
/// them.
constexpr int64_t kPartRows = 128;
/// Depth of a chunk of K: a panel's chunk stays near the L1 cache while the tiles pass.
constexpr int64_t kChunk = 384;
constexpr int64_t kPartWork = 200000;
/// Elements of C that a part goes over for each chunk of K: beside A they stay in the L2 cache.
constexpr int64_t kPartElements = 32768;
constexpr int64_t kWantedParts = 32;
/// Fewer elements are copied by each part again sooner than by a job of its own.
constexpr int64_t kLeastSharedCopies = 65536;
constexpr int64_t kMostSharedBytes = int64_t{8} << 20;
constexpr int64_t kRowsOfCopy = 16;
/// Multiply-adds of a part that computes whole batches.
constexpr int64_t kBatchesWork = 50000;
constexpr int64_t kMostFetchedBytes = 4096; ///< of a row

// Scratch slots.
constexpr int kPackedRows = 0;
constexpr int kStage = 1;
constexpr int kSharedRows = 2;
constexpr int kPackedColumns = 3;
constexpr int kWidePanel = 4;

const char *at(const void *p, int64_t elements, int64_t size) {
  return static_cast<const char *>(p) + elements * size;
}
char *at(void *p, int64_t elements, int64_t size) {
  return static_cast<char *>(p) + elements * size;
}

/// The stride, in elements, of packed rows of `depth` elements: no multiple of 4 KiB.
int64_t packedRowStride(int64_t depth, int64_t size) {
  int64_t stride = divideUp(depth, 16) * 16 + 16;
  return stride * size % 4096 == 0 ? stride + 16 : stride;
}

/// What all parts of one product share.
struct Product {
  const GemmArgs &args;
  const IsaKernels &kernels;
  FloatType type;
  FloatType aType;
  int64_t aSize;   ///< bytes of an element of A
  int64_t bSize;   ///< of B
  int64_t cSize;   ///< of C
  int64_t sumSize; ///< of the type that is computed in
  int64_t panelColumns, panels;
  int64_t stepRows;       ///< rows of B in a step of a tile
  int64_t stepElements;   ///< of what tiles take for A: bytes are packed by pairs
  int64_t steps;          ///< of K
  bool widenPanels;       ///< B is multiplied as f32
  int64_t vectorElements; ///< of the type that is computed in
  bool packRows;          ///< A is converted or made contiguous first
  bool stageAll;          ///< C is not of the type that is computed in
  int64_t chunks;         ///< of K
  int64_t rowParts;
  int64_t columnParts;
  const void *sharedRows = nullptr; ///< all of A, packed, with the batches one behind the other
  int64_t sharedRowStride = 0;

  explicit Product(const GemmArgs &product, const IsaKernels &table);
  bool fused() const {
    Activation activation = args.epilogue.activation;
    return type == kF32 ? isTileActivation(activation) : activation <= Activation::Relu;
  }
  const char *rowsAt(int64_t batch, int64_t row, int64_t column) const {
    return at(args.a, batch * args.aBatchStride + row * args.aRowStride + column * args.aColumnStride, aSize);
  }
  void packRowsOf(const char *from, int64_t rows, int64_t depth, void *to, int64_t stride) const {
    kernels.widen[aType]({from, args.aRowStride, args.aColumnStride, rows, depth, to, stride});
  }
  TileFunction tileOf(int64_t rows) const {
    return kernels.tiles[widenPanels ? kF32 : type][args.layout.vectors][rows];
  }
  void shareRows(ThreadPool &pool);
};

Product::Product(const GemmArgs &product, const IsaKernels &table)
    : args(product), kernels(table), type(floatType(product.layout.type)),
      aType(floatType(product.aType.value_or(product.layout.type))) {
  aSize = bSize = byteSize(args.layout.type);
  cSize = byteSize(args.cType);
  sumSize = type == kF64 || type == kInt64 ? 8 : 4;
  panelColumns = args.layout.panelColumns();
  panels = args.layout.panels();
  steps = args.layout.steps();
  stepRows = args.layout.stepRows();
  stepElements = bSize == 1 ? 1 : stepRows;
  vectorElements = kernels.lanes * 4 / sumSize;
  stageAll = cSize != sumSize;
  bool few = args.m <= kFewRows;
  // Of tiles of many rows, pairs leave no registers for both of their elements.
  widenPanels = type == kBF16 && !few;
  // Rows that are a multiple of 4 KiB apart fall into the same sets of the L1 cache, which hold eight lines.
  int64_t tileRows = std::min<int64_t>(args.m, table.maxRows[args.layout.vectors]);
  bool collides = args.aRowStride * aSize % 4096 == 0 && tileRows > 8;
  packRows = aSize != sumSize || args.aColumnStride != 1 || collides;
  bool inPlace = args.epilogue.residual == args.c;
  chunks = inPlace ? 1 : std::max<int64_t>(1, divideUp(steps * stepElements, kChunk));
  rowParts = divideUp(args.m, kPartRows);
  if (rowParts > 1)
    rowParts += rowParts % 2;
  // Reading a weight takes about as long as computing with it for eight rows.
  int64_t rows = std::max<int64_t>(divideUp(args.m, rowParts), 8);
  int64_t work = std::max<int64_t>(1, rows * args.layout.k * args.layout.n / kPartWork);
  int64_t wanted = few ? kWantedParts : divideUp(kWantedParts, rowParts * args.batches);
  if (chunks > 1)
    wanted = std::max(wanted, divideUp(divideUp(args.m, rowParts) * args.layout.n, kPartElements));
  columnParts = std::clamp<int64_t>(std::min(wanted, work), 1, std::max<int64_t>(1, panels));
}

/// Where many parts of few columns would each pack the same rows, these are packed once, before all parts.
void Product::shareRows(ThreadPool &pool) {
  int64_t rows = args.batches * args.m, depth = args.layout.k;
  int64_t stride = packedRowStride(steps * stepElements, sumSize), bytes = rows * stride * sumSize;
  bool isLittle = rows <= kFewRows && columnParts > 1; // which the calling thread copies by itself
  bool isWorth = isLittle || rows * depth * (columnParts - 1) >= kLeastSharedCopies;
  if (!packRows || !isWorth || bytes > kMostSharedBytes)
    return;
  void *packed = ThreadPool::scratch(static_cast<size_t>(bytes), kSharedRows);
  int64_t copies = divideUp(args.m, kRowsOfCopy);
  auto copy = [&](int64_t index) {
    int64_t batch = index / copies, row = index % copies * kRowsOfCopy;
    packRowsOf(rowsAt(batch, row, 0), std::min(kRowsOfCopy, args.m - row), depth,
               at(packed, (batch * args.m + row) * stride, sumSize), stride);
  };
  if (isLittle)
    for (int64_t index = 0; index < args.batches * copies; ++index)
      copy(index);
  else
    pool.parallelFor(args.batches * copies, copy);
  sharedRows = packed;
  sharedRowStride = stride;
}

/// The rows and panels of one part, and its memory.
class Part {
public:
  Part(const Product &product, int64_t index);
  /// Panels of all rows, which are few.
  Part(const Product &product, int64_t firstPanel, int64_t endPanel);
  void run();

private:
  bool hasPlainPanels() const;
  void runPlainPanels();
  void fetchRows() const;
  void prepareRows(int64_t chunk);
  TileArgs tileOf(int64_t chunk) const;
  const void *widePanel(int64_t panel, int64_t chunk) const;
  void runPanel(TileArgs &tile, int64_t panel, int64_t chunk);
  void finishPanel(int64_t panel);
  void activatePanel(int64_t panel);
  const char *packedAt(int64_t panel, int64_t chunk) const {
    return at(at(p_.args.packedB, batch_ * p_.args.packedBBatchStride, 1),
              (panel * p_.steps + chunkBegin(chunk)) * p_.stepRows * p_.panelColumns, p_.bSize);
  }
  bool staged(int64_t panel) const { return p_.stageAll || (panel + 1) * p_.panelColumns > p_.args.layout.n; }
  /// In steps.
  int64_t chunkBegin(int64_t chunk) const {
    return p_.chunks == 1 ? chunk * p_.steps : partBegin(p_.steps, p_.chunks, chunk);
  }
  char *stage(int64_t panel) { return at(stage_, (panel - firstPanel_) * p_.panelColumns, p_.sumSize); }
  int64_t stageStride() const { return (endPanel_ - firstPanel_) * p_.panelColumns; }
  void fetchAhead(int64_t panel, int64_t chunk, TileArgs &tile) const;
  const void *biasAt(int64_t column) const;
  const void *residualAt(int64_t row, int64_t column) const;

  void countTiles();

  const Product &p_;
  int64_t batch_, firstRow_, endRow_, firstPanel_, endPanel_;
  int64_t tiles_ = 1;       ///< of a panel
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
  int64_t rows = endRow_ - firstRow_, most = p_.kernels.maxRows[p_.args.layout.vectors];
  tiles_ = rows <= most ? 1 : divideUp(rows, most);
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

void Part::run() {
  if (firstRow_ == endRow_ || firstPanel_ == endPanel_)
    return;
  if (staged(endPanel_ - 1))
    stage_ = ThreadPool::scratch((endRow_ - firstRow_) * stageStride() * p_.sumSize, kStage);
  fetchRows();
  if (hasPlainPanels())
    return runPlainPanels();
  // Few rows: the weights are one stream from memory.
  if ((!p_.packRows || p_.sharedRows) && p_.args.m <= kFewRows && p_.chunks > 1) {
    for (int64_t panel = firstPanel_; panel < endPanel_; ++panel)
      for (int64_t chunk = 0; chunk < p_.chunks; ++chunk) {
        prepareRows(chunk);
        TileArgs tile = tileOf(chunk);
        runPanel(tile, panel, chunk);
      }
    return;
  }
  for (int64_t chunk = 0; chunk < p_.chunks; ++chunk) {
    prepareRows(chunk);
    TileArgs tile = tileOf(chunk);
    for (int64_t panel = firstPanel_; panel < endPanel_; ++panel)
      runPanel(tile, panel, chunk);
  }
}

/// Whether the panels are one small tile each, which leaves nothing to be done behind it.
bool Part::hasPlainPanels() const {
  return !p_.packRows && p_.chunks == 1 && endRow_ - firstRow_ <= kFewRows && tiles_ == 1 &&
         !staged(endPanel_ - 1) && p_.fused();
}

/// Of few rows a tile takes so little time that what is the same for all panels is worked out once.
void Part::runPlainPanels() {
  prepareRows(0);
  TileArgs tile = tileOf(0);
  const GemmArgs &args = p_.args;
  int64_t column = firstPanel_ * p_.panelColumns, size = p_.sumSize;
  tile.a = a_;
  tile.b = packedAt(firstPanel_, 0);
  tile.c = at(args.c, batch_ * args.cBatchStride + firstRow_ * args.cRowStride + column, p_.cSize);
  tile.cRowStride = args.cRowStride;
  tile.bias = biasAt(column);
  tile.residual = residualAt(firstRow_, column);
  tile.activation = args.epilogue.activation;
  TileFunction function = p_.tileOf(endRow_ - firstRow_);
  for (int64_t panel = firstPanel_; panel < endPanel_; ++panel) {
    function(tile);
    tile.b = at(tile.b, args.layout.panelBytes(), 1);
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
    a_ = at(p_.sharedRows, (batch_ * p_.args.m + firstRow_) * aStride_ + begin * p_.stepElements, p_.sumSize);
    return;
  }
  const char *first = p_.rowsAt(batch_, firstRow_, begin * p_.stepRows);
  if (!p_.packRows) {
    a_ = first;
    aStride_ = p_.args.aRowStride;
    return;
  }
  int64_t rows = endRow_ - firstRow_;
  int64_t depth = std::min(end * p_.stepRows, p_.args.layout.k) - begin * p_.stepRows;
  aStride_ = packedRowStride((end - begin) * p_.stepElements, p_.sumSize);
  void *packed = ThreadPool::scratch(rows * aStride_ * p_.sumSize, kPackedRows);
  p_.packRowsOf(first, rows, depth, packed, aStride_);
  a_ = packed;
}

/// While the tiles of a panel are computed, the next one comes into the L2 cache: weights lie in memory.
void Part::fetchAhead(int64_t panel, int64_t chunk, TileArgs &tile) const {
  bool isLast = panel + 1 == endPanel_, hasChunk = chunk + 1 < p_.chunks;
  tile.ahead = nullptr;
  if (isLast && !hasChunk && endPanel_ == p_.panels)
    return;
  // Behind the last panel come the first one's next chunk, and then the next part's first chunk.
  int64_t next = !isLast ? panel + 1 : hasChunk ? firstPanel_ : endPanel_;
  tile.ahead = packedAt(next, !isLast ? chunk : hasChunk ? chunk + 1 : 0);
}

/// What the tiles of all panels share.
TileArgs Part::tileOf(int64_t chunk) const {
  int64_t steps = chunkBegin(chunk + 1) - chunkBegin(chunk);
  TileArgs tile;
  tile.aRowStride = aStride_;
  tile.k = p_.widenPanels ? steps * p_.stepRows : steps;
  int64_t bytes = p_.panelColumns * p_.bSize * (p_.widenPanels ? 1 : p_.stepRows); // of a step of the tile
  tile.bRowStride = p_.panelColumns;
  tile.cVectorStride = p_.vectorElements;
  tile.accumulate = chunk > 0;
  tile.residualRowStride = p_.args.epilogue.residualRowStride;
  tile.residualVectorStride = tile.cVectorStride;
  tile.aheadStep = tiles_ == 1 ? bytes : divideUp(bytes, tiles_);
  return tile;
}

/// The panel's chunk as f32.
const void *Part::widePanel(int64_t panel, int64_t chunk) const {
  int64_t steps = chunkBegin(chunk + 1) - chunkBegin(chunk), columns = p_.panelColumns;
  void *wide = ThreadPool::scratch(steps * p_.stepRows * columns * sizeof(float), kWidePanel);
  p_.kernels.widenPairs(packedAt(panel, chunk), steps, columns, static_cast<float *>(wide));
  return wide;
}

void Part::runPanel(TileArgs &tile, int64_t panel, int64_t chunk) {
  const GemmArgs &args = p_.args;
  int64_t column = panel * p_.panelColumns, rows = endRow_ - firstRow_;
  bool last = chunk + 1 == p_.chunks, beside = staged(panel), finishes = last && !beside;
  tile.b = p_.widenPanels ? widePanel(panel, chunk) : packedAt(panel, chunk);
  tile.cRowStride = beside ? stageStride() : args.cRowStride;
  tile.bias = finishes ? biasAt(column) : nullptr;
  tile.activation = finishes && p_.fused() ? args.epilogue.activation : Activation::None;
  fetchAhead(panel, chunk, tile);
  eachTileRun(rows, tiles_, [&](int64_t from, int64_t count, int64_t tiles) {
    int64_t row = firstRow_ + from;
    int64_t place = batch_ * args.cBatchStride + row * args.cRowStride + column;
    tile.tiles = tiles;
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
  else if (last && !p_.fused())
    activatePanel(panel);
}

/// What tiles do not do in registers, on all rows at once: vectors do not wait for each other.
void Part::activatePanel(int64_t panel) {
  const GemmArgs &args = p_.args;
  Activation activation = args.epilogue.activation;
  int64_t column = panel * p_.panelColumns, rows = endRow_ - firstRow_;
  void *c = at(args.c, batch_ * args.cBatchStride + firstRow_ * args.cRowStride + column, p_.cSize);
  if (p_.type == kF64)
    p_.kernels.finish[kF64](
        {c, args.cRowStride, c, args.cRowStride, rows, p_.panelColumns, nullptr, nullptr, 0, activation});
  else
    p_.kernels.activate(activation, static_cast<float *>(c), args.cRowStride, rows, p_.panelColumns);
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
  int64_t most = type != DType::F32                    ? 2
                 : isa == Isa::Avx512 && m <= kFewRows ? 4
                 : isa == Isa::Avx512                  ? 3
                                                       : 2;
  // 14 x 2 is the best tile of many rows; 9 x 3 only where it wastes fewer columns.
  int64_t best = 0;
  for (int64_t vectors : {int64_t(2), int64_t(4), int64_t(3), int64_t(1)}) {
    int64_t columns = divideUp(n, vectors * lanes) * vectors * lanes;
    bool better =
        best == 0 || columns < best || (m <= kFewRows && columns == best && vectors > layout.vectors);
    if (vectors <= most && better) {
      best = columns;
      layout.vectors = static_cast<int32_t>(vectors);
    }
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
    for (int64_t run = 0; run < runs; ++run) {
      int64_t first = run * ofRun + piece * ofPiece;
      Part(product, first, first + ofPiece).run();
    }
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
