// Implements joins of rows: places are read for many rows at once, and each part takes some columns or rows.
#include "cpu/kernels/indexed_rows.h"

#include "cpu/kernels/isa_dispatch.h"

namespace torchere::cpu {
namespace {

constexpr int64_t kRowsRun = 512;
constexpr int64_t kCachedBytes = 131072;  ///< of a tensor that needs no fetching
constexpr int64_t kSharedBytes = 1 << 20; ///< of a tensor of narrow rows that one thread joins as fast
constexpr int64_t kFetchedBytes = 512;    ///< of a row: what follows the processor foresees

template <class T> void copyPlaces(const IndexedSlices &slices, int64_t first, int64_t n, int64_t *places) {
  int64_t step = slices.indexStrides[0];
  const T *indices = static_cast<const T *>(slices.indices) + first * step;
  for (int64_t i = 0; i < n; ++i)
    places[i] = static_cast<int64_t>(indices[i * step]);
}

void readPlaces(const IndexedSlices &slices, int64_t first, int64_t n, int64_t *places) {
  if (slices.indexType == DType::I32)
    return copyPlaces<int32_t>(slices, first, n, places);
  if (slices.indexType == DType::I64)
    return copyPlaces<int64_t>(slices, first, n, places);
  for (int64_t i = 0; i < n; ++i)
    places[i] = rowIndex(slices, first + i);
}

} // namespace

bool areRows(const IndexedSlices &slices) {
  return slices.rank == 2 && slices.components == 1 && slices.target[0] == 0 && slices.batchRank == 1 &&
         slices.batchTarget[0] < 0 && slices.sizes[0] == 1 && slices.sizes[1] == slices.dims[1];
}

int64_t rowIndex(const IndexedSlices &slices, int64_t i) {
  int64_t at = i * slices.indexStrides[0];
  if (slices.indexType == DType::I64)
    return static_cast<const int64_t *>(slices.indices)[at];
  if (slices.indexType == DType::I32)
    return static_cast<const int32_t *>(slices.indices)[at];
  return indexAt(slices.indexType, slices.indices, at);
}

int64_t bytesAhead(int64_t tensorBytes, int64_t rowBytes) {
  return tensorBytes > kCachedBytes ? std::min(rowBytes, kFetchedBytes) : 0;
}

void joinRows(const Context &context, const ScatterArgs &args, const IndexedSlices &slices) {
  int64_t size = byteSize(args.type), count = slices.batchDims[0];
  auto join =
      kernelsOf(context.isa).joinRows[static_cast<int>(args.type)][static_cast<int>(reductionOf(args.join))];
  ScatterCut cut(slices, size);
  // Sums are the same however they are cut. Columns: the longer the parts of rows, the better. Rows: each
  // part would read all places, and guess which are its own.
  if (cut.dimension == 1)
    cut.parts = std::min<int64_t>(cut.parts, context.pool.threads());
  else if (slices.dims[0] * slices.strides[0] * size <= kSharedBytes)
    cut.parts = 1;
  context.pool.parallelFor(cut.parts, [&](int64_t part) {
    int64_t low[kMaxRank], high[kMaxRank], places[kRowsRun];
    cut.bounds(slices, part, low, high);
    JoinRowsJob job;
    job.places = places;
    job.updateStride = slices.batchStrides[0];
    job.tensor = static_cast<char *>(args.tensor) + low[1] * size;
    job.rowStride = slices.strides[0];
    job.low = low[0];
    job.high = high[0];
    job.columns = high[1] - low[1];
    job.ahead = bytesAhead(slices.dims[0] * job.rowStride * size, job.columns * size);
    for (int64_t first = 0; first < count; first += kRowsRun) {
      job.count = std::min(kRowsRun, count - first);
      readPlaces(slices, first, job.count, places);
      job.updates = static_cast<const char *>(args.updates) + (first * job.updateStride + low[1]) * size;
      join(job);
    }
  });
}

} // namespace torchere::cpu
