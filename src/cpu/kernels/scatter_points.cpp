// Scatters of single elements: one pass over them, or parts of the tensor, or copies of it that are joined.
#include "cpu/kernels/elements.h"
#include "cpu/kernels/indexed_points.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/scatter_joins.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartPoints = 16384;
constexpr int64_t kFewParts = 4;
constexpr int64_t kMostCopies = 16;
constexpr int64_t kCopyBytes = 65536;
constexpr int64_t kCachedBytes = 1 << 20; ///< of a tensor that one thread writes as fast as several do
constexpr int64_t kLineElements = 16;
constexpr int kCopies = 6; // scratch

using JoinLine = void (*)(const PointLine &line, char *tensor, const char *updates);

/// Each place is looked up and its update added, or put there, at once, in the order of the points.
template <class T, class Index, bool kAdds>
void joinLine(const PointLine &line, char *tensor, const char *updates) {
  auto *x = reinterpret_cast<T *>(tensor) + line.tensor;
  const auto *u = reinterpret_cast<const T *>(updates) + line.slices;
  const auto *indices = static_cast<const Index *>(line.indices);
  const auto size = static_cast<uint64_t>(line.size);
  const int64_t count = line.count, stride = line.stride, step = line.step;
  for (int64_t i = 0; i < count; ++i) {
    auto place = static_cast<int64_t>(indices[i]);
    if (static_cast<uint64_t>(place) < size)
      x[place * stride] = kAdds ? T(x[place * stride] + u[i * step]) : u[i * step];
  }
}
template <class T, bool kAdds> JoinLine joinLineOf(DType index) {
  return index == DType::I64 ? joinLine<T, int64_t, kAdds> : joinLine<T, int32_t, kAdds>;
}

/// Of sums, and of what replaces elements; null for others.
JoinLine joinLineOf(const ScatterArgs &args, const IndexedSlices &slices) {
  DType index = slices.indexType;
  if (!areLines(slices))
    return nullptr;
  if (args.join == ScatterJoin::Replace && byteSize(args.type) <= 8)
    return withElement(byteSize(args.type),
                       [&](auto element) { return joinLineOf<decltype(element), false>(index); });
  if (args.join != ScatterJoin::Sum)
    return nullptr;
  if (args.type == DType::F32)
    return joinLineOf<float, true>(index);
  if (args.type == DType::F64)
    return joinLineOf<double, true>(index);
  if (args.type == DType::I32 || args.type == DType::U32) // sums wrap
    return joinLineOf<uint32_t, true>(index);
  if (args.type == DType::I64 || args.type == DType::U64)
    return joinLineOf<uint64_t, true>(index);
  return nullptr;
}

class PointScatter {
public:
  PointScatter(const Context &context, const ScatterArgs &args, const IndexedSlices &slices)
      : context_(context), args_(args), slices_(slices), size_(byteSize(args.type)), count_(slices.count()),
        updates_(static_cast<const char *>(args.updates)),
        join_(args.join == ScatterJoin::Replace ? nullptr : joinRunOf(args.type, args.join)),
        joinLine_(joinLineOf(args, slices)) {
    int64_t elements = 1;
    for (int i = 0; i < slices.rank; ++i) {
      span_ += (slices.dims[i] - 1) * slices.strides[i];
      elements *= slices.dims[i];
    }
    isDense_ = elements == span_;
  }
  void run();

private:
  void runOwnPlaces(int dimension, int64_t parts);
  void runParts(int64_t parts);
  void runCopies(int64_t parts);
  void joinAll(int64_t first, int64_t end, char *tensor);
  void write(char *tensor, const int64_t *offsets, const char *values, int64_t step, int64_t n) const {
    if (join_)
      join_({context_, tensor, 0, offsets, values, step, n});
    else
      scatterElements(size_, values, tensor, offsets, n);
  }

  const Context &context_;
  const ScatterArgs &args_;
  const IndexedSlices &slices_;
  int64_t size_, count_, span_ = 1;
  bool isDense_ = false;
  const char *updates_;
  JoinRun join_;
  JoinLine joinLine_;
};

/// Keeps those whose offset lies in [low, high), and calls fn with how many there are.
template <class Fn>
void withKept(int64_t from, int64_t step, const int64_t *offsets, int64_t n, int64_t low, int64_t high,
              const Fn &fn) {
  int64_t kept[kPointsRun], places[kPointsRun], m = 0;
  for (int64_t i = 0; i < n; ++i) {
    kept[m] = offsets[i];
    places[m] = from + i * step;
    m += offsets[i] >= low && offsets[i] < high;
  }
  fn(static_cast<const int64_t *>(kept), static_cast<const int64_t *>(places), m);
}

/// In the order of the points. Those outside are few as a rule.
void PointScatter::joinAll(int64_t first, int64_t end, char *tensor) {
  if (joinLine_)
    return eachLine(slices_, first, end, [&](const PointLine &line) { joinLine_(line, tensor, updates_); });
  PointWalk(slices_).visit(first, end, /*isClamped=*/false,
                           [&](int64_t from, int64_t step, const int64_t *offsets, int64_t n) {
                             int64_t signs = 0;
                             for (int64_t i = 0; i < n; ++i)
                               signs |= offsets[i];
                             if (signs >= 0 && (join_ || step == 1))
                               return write(tensor, offsets, updates_ + from * size_, step, n);
                             withKept(from, step, offsets, n, 0, span_,
                                      [&](const int64_t *kept, const int64_t *places, int64_t m) {
                                        alignas(8) char values[kPointsRun * 16];
                                        gatherElements(size_, updates_, places, values, m);
                                        write(tensor, kept, values, 1, m);
                                      });
                           });
}

/// Parts of a dimension of the batch whose points write different elements each.
void PointScatter::runOwnPlaces(int dimension, int64_t parts) {
  int64_t outer = 1, size = slices_.batchDims[dimension], inner = 1;
  for (int i = 0; i < slices_.batchRank; ++i)
    (i < dimension ? outer : inner) *= i == dimension ? 1 : slices_.batchDims[i];
  context_.pool.parallelFor(parts, [&](int64_t part) {
    int64_t begin = partBegin(size, parts, part), end = partBegin(size, parts, part + 1);
    for (int64_t i = 0; i < outer; ++i)
      joinAll((i * size + begin) * inner, (i * size + end) * inner, static_cast<char *>(args_.tensor));
  });
}

/// Each looks at all points, and writes those that lie in its part of the tensor.
void PointScatter::runParts(int64_t parts) {
  context_.pool.parallelFor(parts, [&](int64_t part) {
    int64_t low = partBegin(span_, parts, part), high = partBegin(span_, parts, part + 1);
    PointWalk(slices_).visit(0, count_, /*isClamped=*/false,
                             [&](int64_t from, int64_t step, const int64_t *offsets, int64_t n) {
                               withKept(from, step, offsets, n, low, high,
                                        [&](const int64_t *kept, const int64_t *places, int64_t m) {
                                          alignas(8) char values[kPointsRun * 16];
                                          gatherElements(size_, updates_, places, values, m);
                                          write(static_cast<char *>(args_.tensor), kept, values, 1, m);
                                        });
                             });
  });
}

/// Each joins some points to a tensor of its own: of integers, whose order does not matter.
void PointScatter::runCopies(int64_t parts) {
  auto type = static_cast<int>(args_.type), op = static_cast<int>(reductionOf(args_.join));
  uint64_t neutral = neutralOf(args_.type, reductionOf(args_.join));
  auto *copies = static_cast<char *>(ThreadPool::scratch(parts * span_ * size_, kCopies));
  context_.pool.parallelFor(parts, [&](int64_t part) {
    char *copy = copies + part * span_ * size_;
    for (int64_t i = 0; i < span_; ++i)
      std::memcpy(copy + i * size_, &neutral, static_cast<size_t>(size_));
    joinAll(partBegin(count_, parts, part), partBegin(count_, parts, part + 1), copy);
  });
  kernelsOf(context_.isa).reduceAcross[type][op]({copies, span_, 1, parts, span_, args_.tensor});
}

void PointScatter::run() {
  int64_t wanted = std::clamp<int64_t>(count_ / kPartPoints, 1, kMostCopies);
  for (int i = 0; i < slices_.batchRank; ++i) {
    // Neighbouring elements are left to one part.
    int64_t apart = i + 1 == slices_.batchRank ? kLineElements : 1;
    int64_t parts = std::min(wanted, slices_.batchDims[i] / apart);
    if (parts > 1 && isOwnPlace(slices_, i))
      return runOwnPlaces(i, parts);
  }
  bool isExact = join_ && !dtypeInfo(args_.type).isFloatingPoint;
  if (isExact && isDense_ && wanted > 1 && span_ * size_ <= kCopyBytes && span_ * wanted <= count_)
    return runCopies(wanted);
  int64_t most = std::min<int64_t>({kFewParts, span_, context_.pool.threads()});
  if (most > 1 && wanted > 1 && span_ * size_ > kCachedBytes)
    return runParts(std::min(wanted, most));
  joinAll(0, count_, static_cast<char *>(args_.tensor));
}

} // namespace

void scatterPoints(const Context &context, const ScatterArgs &args, const IndexedSlices &slices) {
  PointScatter(context, args, slices).run();
}

} // namespace torchere::cpu
