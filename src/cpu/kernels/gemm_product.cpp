// Implements the cut of a matrix product.
#include "cpu/kernels/gemm_product.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

/// Rows of a part: its chunk of A stays in the L2 cache, and each part reads its weights once for all of
/// them.
constexpr int64_t kPartRows = 128;
/// Depth of a chunk of K: a panel's chunk stays near the L1 cache while the tiles pass.
constexpr int64_t kChunk = 384;
/// Likewise of f32, for which the L2 cache is quick enough: sums go to C and come back less often.
constexpr int64_t kFloatChunk = 768;
/// Likewise for a matrix unit, which reads faster than the L2 cache gives both factors.
constexpr int64_t kMatrixChunk = 192;
constexpr int64_t kPartWork = 200000;
/// Of a part of rows, where there are few panels: with the columns that these have beyond the matrix.
constexpr int64_t kPartOfRowsWork = 100000;
constexpr int64_t kLeastRows = 16; ///< of such a part: fewer leave too few sums to hide their latency
/// Elements of C that a part goes over for each chunk of K: beside A they stay in the L2 cache.
constexpr int64_t kPartElements = 32768;
constexpr int64_t kWantedParts = 32;
/// Fewer elements are copied by each part again sooner than by a job of its own.
constexpr int64_t kLeastSharedCopies = 65536;
constexpr int64_t kMostSharedBytes = int64_t{8} << 20;
constexpr int64_t kRowsOfCopy = 16;
/// Of fewer rows a matrix unit gains less than panels of bytes cost that are joined to fours for it.
constexpr int64_t kLeastMatrixRows = 16;

MatrixProduct productOfBytes(FloatType a, FloatType b) {
  if (a == kInt8)
    return b == kInt8 ? kMatrixI8I8 : kMatrixI8U8;
  return b == kInt8 ? kMatrixU8I8 : kMatrixU8U8;
}

} // namespace

int64_t packedRowStride(int64_t depth, int64_t size) {
  int64_t stride = divideUp(depth, 16) * 16 + 16;
  return stride * size % 4096 == 0 ? stride + 16 : stride;
}

/// BF16 and bytes of many rows are multiplied by pairs and by fours where the processor can.
void Product::chooseTiles() {
  int vectors = args.layout.vectors;
  bool isOfBytes = type == kInt8 || type == kUInt8;
  if (type == kBF16 && args.m > kFewRows && !args.keepsDenormals) {
    matrixTile = kernels.matrixTiles[kMatrixBF16][vectors];
    if (matrixTile || kernels.tiles[kBF16Dots][vectors][1])
      type = aType = kBF16Dots;
  } else if (TileFunction tile = isOfBytes && args.m >= kLeastMatrixRows
                                     ? kernels.matrixTiles[productOfBytes(aType, type)][vectors]
                                     : nullptr) {
    matrixTile = tile;
    type = aType = kByteDots;
    convertPanel = kernels.joinPairs;
  }
  if (type == kBF16 && args.m > kFewRows) // pairs leave no registers for both of their elements
    convertPanel = kernels.widenPairs;
}

/// Whether tiles can read A where it lies.
bool Product::takesRowsInPlace() const {
  // Rows that are a multiple of 4 KiB apart fall into the same sets of the L1 cache, which hold eight lines.
  // A matrix unit reads them from the L2 cache anyway.
  bool collides = !matrixTile && args.aRowStride * aSize % 4096 == 0 && std::min(args.m, tileRows()) > 8;
  if (args.aColumnStride != 1 || collides)
    return false;
  if (type != kBF16Dots && type != kByteDots)
    return aSize == sumSize;
  auto isWhole = [&](int64_t elements) { return elements * aSize % sumSize == 0; };
  return isWhole(args.layout.k) && isWhole(args.aRowStride) && isWhole(args.aBatchStride) &&
         reinterpret_cast<uintptr_t>(args.a) % static_cast<size_t>(sumSize) == 0;
}

Product::Product(const GemmArgs &product, const IsaKernels &table)
    : args(product), kernels(table), type(floatType(product.layout.type)),
      aType(floatType(product.aType.value_or(product.layout.type))) {
  aSize = bSize = byteSize(args.layout.type);
  cSize = byteSize(args.cType);
  sumSize = type == kF64 || type == kInt64 ? 8 : 4;
  chooseTiles();
  panelColumns = args.layout.panelColumns();
  panels = args.layout.panels();
  steps = args.layout.steps();
  stepRows = args.layout.stepRows();
  elementRows = type == kByteDots ? 4 : type == kBF16Dots || bSize == 1 ? 2 : 1;
  vectorElements = kernels.lanes * 4 / sumSize;
  stageAll = cSize != sumSize || !isFused();
  packRows = !takesRowsInPlace();
  cut();
}

void Product::cut() {
  bool inPlace = args.epilogue.residual == args.c;
  int64_t chunk = matrixTile ? kMatrixChunk : args.layout.type == DType::F32 ? kFloatChunk : kChunk;
  chunks = inPlace ? 1 : std::max<int64_t>(1, divideUp(elementsOf(steps), chunk));
  rowParts = divideUp(args.m, kPartRows);
  if (rowParts > 1)
    rowParts += rowParts % 2;
  // Reading a weight takes about as long as computing with it for eight rows.
  int64_t rows = std::max<int64_t>(divideUp(args.m, rowParts), 8);
  int64_t work = std::max<int64_t>(1, rows * args.layout.k * args.layout.n / kPartWork);
  int64_t wanted = args.m <= kFewRows ? kWantedParts : divideUp(kWantedParts, rowParts * args.batches);
  if (chunks > 1 && !matrixTile)
    wanted = std::max(wanted, divideUp(divideUp(args.m, rowParts) * args.layout.n, kPartElements));
  columnParts = std::clamp<int64_t>(std::min(wanted, work), 1, std::max<int64_t>(1, panels));
  // Few columns leave threads without panels.
  int64_t leastRows = matrixTile ? kMatrixRows : kLeastRows;
  if (columnParts == panels && rowParts * args.batches == 1)
    rowParts =
        std::clamp<int64_t>(args.m * args.layout.k * panelColumns / kPartOfRowsWork, 1,
                            std::max<int64_t>(1, std::min(args.m / leastRows, kWantedParts / columnParts)));
}

/// Where many parts of few columns would each pack the same rows, these are packed once, before all parts.
void Product::shareRows(ThreadPool &pool) {
  int64_t rows = args.batches * args.m, depth = args.layout.k;
  int64_t stride = packedRowStride(elementsOf(steps), sumSize), bytes = rows * stride * sumSize;
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

} // namespace torchere::cpu
