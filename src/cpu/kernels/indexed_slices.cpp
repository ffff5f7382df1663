// Walks over slices at computed places.
#include "cpu/kernels/indexed_slices.h"

#include "cpu/kernels/elements.h"
#include "cpu/kernels/indexed_points.h"
#include "cpu/kernels/indexed_rows.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/scatter_joins.h"

#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartBytes = 32768;
constexpr int64_t kPartUpdates = 16384;
constexpr int64_t kPartPoints = 4096;
constexpr int64_t kPartColumnBytes = 64; ///< a line of the cache, which two parts should not write
constexpr int64_t kFewElements = 64;
constexpr int64_t kFewParts = 4;
constexpr int64_t kMaxParts = 64;
constexpr int64_t kMinLines = 4; ///< that make up for looking up their places first
constexpr int64_t kMaxPlaces = 16384;
constexpr int64_t kRowsAhead = 8;
constexpr int kPlaces = 6; // scratch

template <class T> int64_t loadIndex(const void *indices, int64_t at) {
  T value = static_cast<const T *>(indices)[at];
  if constexpr (std::is_same_v<T, uint64_t>)
    return value > uint64_t(std::numeric_limits<int64_t>::max()) ? std::numeric_limits<int64_t>::max()
                                                                 : static_cast<int64_t>(value);
  return static_cast<int64_t>(value);
}

} // namespace

int64_t indexAt(DType type, const void *indices, int64_t at) {
  bool isSigned = type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64;
  if (byteSize(type) == 1)
    return isSigned ? loadIndex<int8_t>(indices, at) : loadIndex<uint8_t>(indices, at);
  if (byteSize(type) == 2)
    return isSigned ? loadIndex<int16_t>(indices, at) : loadIndex<uint16_t>(indices, at);
  if (byteSize(type) == 4)
    return isSigned ? loadIndex<int32_t>(indices, at) : loadIndex<uint32_t>(indices, at);
  return isSigned ? loadIndex<int64_t>(indices, at) : loadIndex<uint64_t>(indices, at);
}

int64_t IndexedSlices::count() const {
  int64_t product = 1;
  for (int i = 0; i < batchRank; ++i)
    product *= batchDims[i];
  return product;
}

int64_t IndexedSlices::elements() const {
  int64_t product = 1;
  for (int i = 0; i < rank; ++i)
    product *= sizes[i];
  return product;
}

bool areColumns(const IndexedSlices &slices) {
  if (slices.batchRank == 0 || slices.indexType == DType::U64)
    return false;
  bool isMoved[kMaxRank] = {};
  for (int i = 0; i < slices.components; ++i)
    isMoved[slices.target[i]] = true;
  int64_t stride = 1;
  for (int i = slices.batchRank - 1; i >= 0; --i) {
    if (slices.batchStrides[i] != stride)
      return false;
    stride *= slices.batchDims[i];
    if (slices.batchTarget[i] >= 0)
      isMoved[slices.batchTarget[i]] = true;
  }
  for (int i = 0; i < slices.rank; ++i)
    if (slices.sizes[i] != (isMoved[i] ? 1 : slices.dims[i]))
      return false;
  return true;
}

SliceWalk::SliceWalk(const IndexedSlices &slices, int64_t first) : slices_(slices) {
  for (int i = slices.batchRank - 1; i >= 0; --i) {
    position_[i] = first % slices.batchDims[i];
    first /= slices.batchDims[i];
    offset_ += position_[i] * slices.batchStrides[i];
    indexOffset_ += position_[i] * slices.indexStrides[i];
  }
}

const int64_t *SliceWalk::starts() {
  for (int i = 0; i < slices_.rank; ++i)
    starts_[i] = 0;
  for (int i = 0; i < slices_.components; ++i)
    starts_[slices_.target[i]] =
        indexAt(slices_.indexType, slices_.indices, indexOffset_ + i * slices_.componentStride);
  for (int i = 0; i < slices_.batchRank; ++i)
    if (slices_.batchTarget[i] >= 0)
      starts_[slices_.batchTarget[i]] += position_[i];
  return starts_;
}

void SliceWalk::next() {
  for (int i = slices_.batchRank - 1; i >= 0; --i) {
    offset_ += slices_.batchStrides[i];
    indexOffset_ += slices_.indexStrides[i];
    if (++position_[i] < slices_.batchDims[i])
      return;
    position_[i] = 0;
    offset_ -= slices_.batchDims[i] * slices_.batchStrides[i];
    indexOffset_ -= slices_.batchDims[i] * slices_.indexStrides[i];
  }
}

namespace {

template <class T> void copyRun(const char *from, int64_t fromStride, char *to, int64_t toStride, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * toStride * int64_t(sizeof(T)), from + i * fromStride * int64_t(sizeof(T)),
                sizeof(T));
}

using CopyRun = void (*)(const char *from, int64_t fromStride, char *to, int64_t toStride, int64_t n);

CopyRun copyRunOf(int size) {
  return withElement(size, [](auto element) -> CopyRun { return copyRun<decltype(element)>; });
}

/// Makes one of two neighbouring dimensions of the batch where one stride walks both.
void mergeBatches(IndexedSlices &slices) {
  int rank = 0;
  for (int i = 0; i < slices.batchRank; ++i) {
    int64_t size = slices.batchDims[i];
    bool joins = rank > 0 && slices.batchTarget[rank - 1] < 0 && slices.batchTarget[i] < 0 &&
                 slices.batchStrides[rank - 1] == slices.batchStrides[i] * size &&
                 slices.indexStrides[rank - 1] == slices.indexStrides[i] * size;
    int place = joins ? rank - 1 : rank++;
    slices.batchDims[place] = joins ? slices.batchDims[place] * size : size;
    slices.batchStrides[place] = slices.batchStrides[i];
    slices.indexStrides[place] = slices.indexStrides[i];
    slices.batchTarget[place] = slices.batchTarget[i];
  }
  slices.batchRank = rank;
}

/// A dimension of the batch that one of the tensor goes along with, whole, and by which no index changes: the
/// slices are taken along it, as where torch's scatter_add adds rows.
void widenSlices(IndexedSlices &slices) {
  for (int b = 0; b < slices.batchRank; ++b) {
    int target = slices.batchTarget[b];
    bool isOne = target >= 0 && slices.batchDims[b] == 1 && slices.dims[target] == 1;
    if (!isOne && (target < 0 || slices.indexStrides[b] != 0 || slices.batchDims[b] != slices.dims[target] ||
                   slices.strides[target] != 1 || slices.batchStrides[b] != 1))
      continue;
    slices.sizes[target] = slices.dims[target];
    slices.sliceStrides[target] = slices.batchStrides[b];
    for (int i = b--; i + 1 < slices.batchRank; ++i) {
      slices.batchDims[i] = slices.batchDims[i + 1];
      slices.batchStrides[i] = slices.batchStrides[i + 1];
      slices.indexStrides[i] = slices.indexStrides[i + 1];
      slices.batchTarget[i] = slices.batchTarget[i + 1];
    }
    --slices.batchRank;
  }
}

/// The same slices with dimensions merged that both tensors walk as one: a dimension that no index moves, and
/// that slices take whole, joins the one before it.
IndexedSlices merged(const IndexedSlices &given) {
  IndexedSlices slices = given;
  widenSlices(slices);
  IndexedSlices made = slices;
  bool moved[kMaxRank] = {};
  for (int i = 0; i < slices.components; ++i)
    moved[slices.target[i]] = true;
  for (int i = 0; i < slices.batchRank; ++i)
    if (slices.batchTarget[i] >= 0)
      moved[slices.batchTarget[i]] = true;
  int place[kMaxRank] = {};
  made.rank = 0;
  for (int i = 0; i < slices.rank; ++i) {
    bool isWhole = !moved[i] && slices.sizes[i] == slices.dims[i];
    int last = made.rank - 1;
    bool joins = isWhole && last >= 0 && !moved[i - 1] && made.sizes[last] == made.dims[last] &&
                 made.strides[last] == slices.strides[i] * slices.dims[i] &&
                 made.sliceStrides[last] == slices.sliceStrides[i] * slices.sizes[i];
    if (joins) {
      made.dims[last] *= slices.dims[i];
      made.sizes[last] *= slices.sizes[i];
    } else {
      made.dims[++last] = slices.dims[i];
      made.sizes[last] = slices.sizes[i];
      made.rank = last + 1;
    }
    made.strides[last] = slices.strides[i];
    made.sliceStrides[last] = slices.sliceStrides[i];
    place[i] = last;
  }
  for (int i = 0; i < slices.components; ++i)
    made.target[i] = place[slices.target[i]];
  for (int i = 0; i < slices.batchRank; ++i)
    if (slices.batchTarget[i] >= 0)
      made.batchTarget[i] = place[slices.batchTarget[i]];
  mergeBatches(made);
  return made;
}

/// Whether looking up the places of slices that areColumns() once makes up for keeping them.
bool hasManyLines(const IndexedSlices &slices) {
  return slices.elements() >= kMinLines && slices.count() <= kMaxPlaces;
}

/// Slices that areColumns(): line by line of the result, whose places are looked up once for all lines.
void gatherColumns(const Context &context, const IndexedSlices &slices, int elementSize, const void *tensor,
                   void *output) {
  int64_t count = slices.count(), lines = slices.elements();
  auto *places = static_cast<int64_t *>(ThreadPool::scratch(count * sizeof(int64_t), kPlaces));
  PointWalk(slices).visit(0, count, /*isClamped=*/true,
                          [&](int64_t first, int64_t, const int64_t *offsets, int64_t n) {
                            std::copy(offsets, offsets + n, places + first);
                          });
  int64_t parts =
      std::clamp<int64_t>(count * lines * elementSize / kPartBytes, 1, std::min(kMaxParts, lines));
  context.pool.parallelFor(parts, [&](int64_t part) {
    for (int64_t line = partBegin(lines, parts, part); line < partBegin(lines, parts, part + 1); ++line) {
      ColumnBegin begin(slices, line);
      gatherElements(elementSize, static_cast<const char *>(tensor) + begin.from * elementSize, places,
                     static_cast<char *>(output) + begin.to * elementSize, count);
    }
  });
}

using CopyRow = void (*)(char *to, const char *from, int64_t bytes);
/// Short rows of common sizes are copied without a call.
CopyRow copyRowOf(int64_t bytes) {
  if (bytes == 4)
    return [](char *to, const char *from, int64_t) { std::memcpy(to, from, 4); };
  if (bytes == 8)
    return [](char *to, const char *from, int64_t) { std::memcpy(to, from, 8); };
  if (bytes == 16)
    return [](char *to, const char *from, int64_t) { std::memcpy(to, from, 16); };
  if (bytes == 32)
    return [](char *to, const char *from, int64_t) { std::memcpy(to, from, 32); };
  if (bytes == 64)
    return [](char *to, const char *from, int64_t) { std::memcpy(to, from, 64); };
  return [](char *to, const char *from, int64_t size) { std::memcpy(to, from, static_cast<size_t>(size)); };
}

/// Slices that areRows(), dense in both tensors. Rows lie anywhere in memory: the next ones come while one is
/// copied.
void gatherRows(const Context &context, const IndexedSlices &slices, int64_t elementSize, const char *tensor,
                char *output) {
  int64_t count = slices.batchDims[0], bytes = slices.sizes[1] * elementSize;
  int64_t parts = std::clamp<int64_t>(count * bytes / kPartBytes, 1, std::min(kMaxParts, count));
  auto rowAt = [&](int64_t i) {
    int64_t row = rowIndex(slices, i);
    return tensor + std::clamp<int64_t>(row, 0, slices.dims[0] - 1) * slices.strides[0] * elementSize;
  };
  int64_t fetched = bytesAhead(slices.dims[0] * bytes, bytes);
  CopyRow copy = copyRowOf(bytes);
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t begin = partBegin(count, parts, part), end = partBegin(count, parts, part + 1);
    auto fetch = [&](int64_t i) {
      const char *row = rowAt(i);
      for (int64_t at = 0; at < fetched; at += 64)
        __builtin_prefetch(row + at);
    };
    int64_t next = begin;
    for (; next < std::min(end, begin + kRowsAhead); ++next)
      fetch(next);
    for (int64_t i = begin; i < end; ++i, ++next) {
      if (fetched > 0 && next < end)
        fetch(next);
      copy(output + i * slices.batchStrides[0] * elementSize, rowAt(i), bytes);
    }
  });
}

/// Whether each slice is a whole row of the matrix of its batch, at one index: rows in another order.
bool areRowsOfMatrices(const IndexedSlices &slices) {
  return slices.rank >= 2 && slices.rank <= 3 && slices.components == 1 && slices.target[0] == 1 &&
         slices.batchRank == 2 && slices.batchTarget[0] == 0 && slices.batchTarget[1] < 0 &&
         slices.sizes[0] == 1 && slices.sizes[1] == 1 && slices.batchDims[0] <= slices.dims[0] &&
         (slices.rank == 2 ||
          (slices.sizes[2] == slices.dims[2] && slices.strides[2] == 1 && slices.sliceStrides[2] == 1));
}

/// Slices that areRowsOfMatrices().
void gatherRowsOfMatrices(const Context &context, const IndexedSlices &slices, int64_t elementSize,
                          const char *tensor, char *output) {
  const int64_t matrices = slices.batchDims[0], rows = slices.batchDims[1];
  const int64_t bytes = (slices.rank == 2 ? 1 : slices.sizes[2]) * elementSize;
  CopyRow copy = copyRowOf(bytes);
  int64_t parts = std::clamp<int64_t>(matrices * rows * bytes / kPartBytes, 1, std::min(kMaxParts, matrices));
  context.pool.parallelFor(parts, [&](int64_t part) {
    for (int64_t i = partBegin(matrices, parts, part); i < partBegin(matrices, parts, part + 1); ++i) {
      const char *from = tensor + i * slices.strides[0] * elementSize;
      char *to = output + i * slices.batchStrides[0] * elementSize;
      for (int64_t row = 0; row < rows; ++row) {
        int64_t index = indexAt(slices.indexType, slices.indices,
                                i * slices.indexStrides[0] + row * slices.indexStrides[1]);
        index = std::clamp<int64_t>(index, 0, slices.dims[1] - 1);
        copy(to + row * slices.batchStrides[1] * elementSize, from + index * slices.strides[1] * elementSize,
             bytes);
      }
    }
  });
}

using GatherLine = void (*)(const PointLine &line, const char *tensor, char *output);

template <class T, class Index> void gatherLine(const PointLine &line, const char *tensor, char *output) {
  const T *x = reinterpret_cast<const T *>(tensor) + line.tensor;
  T *y = reinterpret_cast<T *>(output) + line.slices;
  const auto *indices = static_cast<const Index *>(line.indices);
  const int64_t count = line.count, last = line.size - 1, stride = line.stride, step = line.step;
  auto place = [&](int64_t i) { return std::clamp<int64_t>(indices[i], 0, last); };
  if (stride == 1 && step == 1)
    for (int64_t i = 0; i < count; ++i)
      y[i] = x[place(i)];
  else
    for (int64_t i = 0; i < count; ++i)
      y[i * step] = x[place(i) * stride];
}

/// Of elements of up to 8 bytes; null for others.
GatherLine gatherLineOf(const IndexedSlices &slices, int elementSize) {
  if (!areLines(slices) || elementSize > 8)
    return nullptr;
  return withElement(elementSize, [&](auto element) -> GatherLine {
    using Element = decltype(element);
    return slices.indexType == DType::I64 ? gatherLine<Element, int64_t> : gatherLine<Element, int32_t>;
  });
}

/// Slices that arePoints().
void gatherPoints(const Context &context, const IndexedSlices &slices, int elementSize, const char *tensor,
                  char *output) {
  int64_t count = slices.count();
  int64_t parts = std::clamp<int64_t>(count / kPartPoints, 1, kMaxParts);
  PointWalk walk(slices);
  GatherLine line = gatherLineOf(slices, elementSize);
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t begin = partBegin(count, parts, part), end = partBegin(count, parts, part + 1);
    if (line)
      return eachLine(slices, begin, end, [&](const PointLine &each) { line(each, tensor, output); });
    walk.visit(begin, end, /*isClamped=*/true,
               [&](int64_t to, int64_t stride, const int64_t *offsets, int64_t n) {
                 gatherElements(elementSize, tensor, offsets, output + to * elementSize, n, stride);
               });
  });
}

} // namespace

void gatherSlices(const Context &context, const IndexedSlices &given, int elementSize, const void *tensor,
                  void *output) {
  IndexedSlices slices = merged(given);
  int64_t count = slices.count(), bytes = count * slices.elements() * elementSize;
  if (bytes == 0)
    return;
  if (areColumns(slices) && hasManyLines(slices))
    return gatherColumns(context, slices, elementSize, tensor, output);
  if (areRows(slices) && slices.strides[1] == 1 && slices.sliceStrides[1] == 1)
    return gatherRows(context, slices, elementSize, static_cast<const char *>(tensor),
                      static_cast<char *>(output));
  if (arePoints(slices))
    return gatherPoints(context, slices, elementSize, static_cast<const char *>(tensor),
                        static_cast<char *>(output));
  if (areRowsOfMatrices(slices))
    return gatherRowsOfMatrices(context, slices, elementSize, static_cast<const char *>(tensor),
                                static_cast<char *>(output));
  int64_t parts = std::clamp<int64_t>(bytes / kPartBytes, 1, std::min(kMaxParts, count));
  CopyRun copy = copyRunOf(elementSize);
  int64_t low[kMaxRank] = {};
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t begin = partBegin(count, parts, part), end = partBegin(count, parts, part + 1);
    SliceWalk walk(slices, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      const int64_t *starts = walk.starts();
      int64_t clamped[kMaxRank];
      for (int d = 0; d < slices.rank; ++d)
        clamped[d] = std::clamp<int64_t>(starts[d], 0, slices.dims[d] - slices.sizes[d]);
      SliceRuns::visit(slices, clamped, walk.offset(), low, slices.dims,
                       [&](int64_t from, int64_t to, int64_t n, int64_t fromStride, int64_t toStride) {
                         const char *x = static_cast<const char *>(tensor) + from * elementSize;
                         char *y = static_cast<char *>(output) + to * elementSize;
                         if (fromStride == 1 && toStride == 1)
                           std::memcpy(y, x, static_cast<size_t>(n * elementSize));
                         else
                           copy(x, fromStride, y, toStride, n);
                       });
    }
  });
}

ScatterCut::ScatterCut(const IndexedSlices &slices, int64_t elementSize) {
  int64_t updates = slices.count() * slices.elements();
  for (int i = 0; i < slices.rank; ++i)
    if (slices.dims[i] > slices.dims[dimension])
      dimension = i;
  // Of slices of few elements most of the time goes to their places, which each part looks at. Of rows each
  // part takes all, but some columns, so that updates are read in their order.
  int64_t most = slices.elements() < kFewElements ? kFewParts : 16;
  int64_t columnParts = areRows(slices) ? slices.dims[1] * elementSize / kPartColumnBytes : 0;
  if (columnParts >= 2) {
    dimension = 1;
    most = std::min<int64_t>(16, columnParts);
  }
  if (slices.rank > 0)
    parts = std::clamp<int64_t>(updates / kPartUpdates, 1,
                                std::min(most, std::max<int64_t>(slices.dims[dimension], 1)));
}

void ScatterCut::bounds(const IndexedSlices &slices, int64_t part, int64_t *low, int64_t *high) const {
  for (int i = 0; i < slices.rank; ++i) {
    low[i] = 0;
    high[i] = slices.dims[i];
  }
  if (slices.rank > 0) {
    low[dimension] = partBegin(slices.dims[dimension], parts, part);
    high[dimension] = partBegin(slices.dims[dimension], parts, part + 1);
  }
}

namespace {

/// Of slices that areRows(), those parts that lie within the bounds. The rows that come next are fetched.
template <class Write>
void forEachRow(const IndexedSlices &slices, const int64_t *low, const int64_t *high, const char *tensor,
                int64_t size, Write write) {
  int64_t n = high[1] - low[1], begin = low[1] * slices.strides[1], from = low[1] * slices.sliceStrides[1];
  int64_t rowBytes = slices.strides[0] * size, count = slices.batchDims[0];
  int64_t fetched = slices.strides[1] == 1 ? bytesAhead(slices.dims[0] * rowBytes, n * size) : 0;
  for (int64_t i = 0; i < count; ++i) {
    if (fetched > 0 && i + kRowsAhead < count)
      if (int64_t next = rowIndex(slices, i + kRowsAhead); next >= low[0] && next < high[0])
        for (int64_t at = 0; at < fetched; at += 64)
          __builtin_prefetch(tensor + next * rowBytes + begin * size + at, 1);
    if (int64_t row = rowIndex(slices, i); row >= low[0] && row < high[0])
      write(row * slices.strides[0] + begin, i * slices.batchStrides[0] + from, n, slices.strides[1],
            slices.sliceStrides[1]);
  }
}

template <class Write>
void forEachUpdate(const Context &context, const IndexedSlices &slices, const char *tensor, int64_t size,
                   Write write) {
  int64_t count = slices.count();
  ScatterCut cut(slices, size);
  bool byRows = areRows(slices);
  context.pool.parallelFor(cut.parts, [&](int64_t part) {
    int64_t low[kMaxRank], high[kMaxRank];
    cut.bounds(slices, part, low, high);
    if (byRows)
      return forEachRow(slices, low, high, tensor, size, write);
    SliceWalk walk(slices, 0);
    for (int64_t i = 0; i < count; ++i, walk.next())
      SliceRuns::visit(slices, walk.starts(), walk.offset(), low, high, write);
  });
}

} // namespace

/// Slices that areColumns() as single elements: what they are whole in becomes dimensions of the batch,
/// before the others, so that lines of updates stay lines. None if they are too short, or the dimensions too
/// many.
static std::optional<IndexedSlices> elementsOfColumns(const IndexedSlices &slices) {
  if (!areColumns(slices) || slices.elements() < kMinLines)
    return std::nullopt;
  IndexedSlices points = slices;
  for (int d = slices.rank - 1; d >= 0; --d) {
    if (slices.sizes[d] == 1)
      continue;
    if (points.batchRank == kMaxRank)
      return std::nullopt;
    auto insert = [&](auto *list, auto value) {
      std::copy_backward(list, list + points.batchRank, list + points.batchRank + 1);
      list[0] = value;
    };
    insert(points.batchDims, slices.dims[d]);
    insert(points.batchStrides, slices.sliceStrides[d]);
    insert(points.indexStrides, int64_t(0));
    insert(points.batchTarget, d);
    ++points.batchRank;
    points.sizes[d] = 1;
  }
  return arePoints(points) ? std::optional(points) : std::nullopt;
}

bool hasScatter(DType type, ScatterJoin join) {
  return join == ScatterJoin::Replace || joinRunOf(type, join);
}

void scatterSlices(const Context &context, const ScatterArgs &args) {
  IndexedSlices slices = merged(args.slices);
  if (slices.count() * slices.elements() == 0)
    return;
  int64_t size = byteSize(args.type);
  char *tensor = static_cast<char *>(args.tensor);
  const char *updates = static_cast<const char *>(args.updates);
  JoinRun join = args.join == ScatterJoin::Replace ? nullptr : joinRunOf(args.type, args.join);
  if (arePoints(slices))
    return scatterPoints(context, args, slices);
  if (std::optional<IndexedSlices> points = elementsOfColumns(slices))
    return scatterPoints(context, args, *points);
  if (join && areRows(slices) && slices.strides[1] == 1 && slices.sliceStrides[1] == 1)
    return joinRows(context, args, slices);
  if (join)
    return forEachUpdate(
        context, slices, tensor, size,
        [&](int64_t to, int64_t from, int64_t n, int64_t toStride, int64_t step) {
          join({context, tensor + to * size, toStride, nullptr, updates + from * size, step, n});
        });
  CopyRun copy = copyRunOf(static_cast<int>(size));
  forEachUpdate(context, slices, tensor, size,
                [&](int64_t to, int64_t from, int64_t n, int64_t toStride, int64_t step) {
                  if (toStride == 1 && step == 1)
                    std::memcpy(tensor + to * size, updates + from * size, static_cast<size_t>(n * size));
                  else
                    copy(updates + from * size, step, tensor + to * size, toStride, n);
                });
}

} // namespace torchere::cpu
