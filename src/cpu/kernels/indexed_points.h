// Slices of one element at computed places, as offsets: each is looked up without a walk over dimensions.
#pragma once

#include "cpu/kernels/indexed_slices.h"

#include <utility>

namespace torchere::cpu {

constexpr int64_t kPointsRun = 512;

/// Whether slices are single elements, in runs that are worth it.
bool arePoints(const IndexedSlices &slices);

/// Points at one index each, which lie one after the other, as the slices' do by a step.
struct PointLine {
  int64_t tensor = 0; ///< the element that index 0 leads to
  int64_t slices = 0; ///< the first one's place in the slices' tensor
  const void *indices = nullptr;
  int64_t count = 0;
  int64_t size = 0;   ///< of the tensor's dimension
  int64_t stride = 0; ///< of that
  int64_t step = 0;
};
/// Whether points, of indices of 32 or 64 bits with a sign, are such lines.
bool areLines(const IndexedSlices &points);
/// Whether the batch dimension's index alone says where the slices are in a dimension of the tensor.
bool isOwnPlace(const IndexedSlices &slices, int batchDimension);

/// Calls fn(PointLine) for those from `first` to `end`, of points that areLines().
template <class Fn> void eachLine(const IndexedSlices &points, int64_t first, int64_t end, const Fn &fn) {
  const int last = points.batchRank - 1;
  PointLine line;
  line.size = points.dims[points.target[0]];
  line.stride = points.strides[points.target[0]];
  line.step = points.batchStrides[last];
  for (int64_t length = points.batchDims[last]; first < end; first += line.count) {
    int64_t at = first % length, rest = first / length, index = at;
    line.count = std::min(length - at, end - first);
    line.tensor = 0;
    line.slices = at * line.step;
    for (int d = last - 1; d >= 0; --d) {
      int64_t position = rest % points.batchDims[d];
      rest /= points.batchDims[d];
      line.slices += position * points.batchStrides[d];
      index += position * points.indexStrides[d];
      if (points.batchTarget[d] >= 0)
        line.tensor += position * points.strides[points.batchTarget[d]];
    }
    line.indices = static_cast<const char *>(points.indices) + index * byteSize(points.indexType);
    fn(std::as_const(line));
  }
}

/// Of slices that arePoints().
class PointWalk {
public:
  explicit PointWalk(const IndexedSlices &slices) : slices_(slices) {}
  /// Calls fn(offset in the slices' tensor, its stride, offsets in the tensor, n) for runs of slices from
  /// `first` to `end`, of at most kPointsRun each. Places outside of the tensor are clamped, or have the
  /// offset -1.
  template <class Fn> void visit(int64_t first, int64_t end, bool isClamped, const Fn &fn) const {
    int64_t offsets[kPointsRun], last = slices_.batchDims[slices_.batchRank - 1];
    while (first < end) {
      int64_t n = std::min({kPointsRun, end - first, last - first % last});
      fn(locate(first, n, isClamped, offsets), slices_.batchStrides[slices_.batchRank - 1],
         static_cast<const int64_t *>(offsets), n);
      first += n;
    }
  }

private:
  template <class T>
  void locateLine(const T *indices, int64_t base, int64_t n, bool isClamped, int64_t *offsets) const;
  int64_t locate(int64_t first, int64_t n, bool isClamped, int64_t *offsets) const;

  const IndexedSlices &slices_;
};

/// scatterSlices() of slices that arePoints(), which are those of `args` with dimensions merged.
void scatterPoints(const Context &context, const ScatterArgs &args, const IndexedSlices &slices);

} // namespace torchere::cpu
