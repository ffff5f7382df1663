// Slices of one element at computed places, as offsets: each is looked up without a walk over dimensions.
#pragma once

#include "cpu/kernels/indexed_slices.h"

namespace torchere::cpu {

constexpr int64_t kPointsRun = 512;

/// Whether slices are single elements, in runs that are worth it.
bool arePoints(const IndexedSlices &slices);

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
