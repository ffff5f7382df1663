// Slices of a tensor at computed places: gathered, or joined with updates.
#pragma once

#include "cpu/kernels/reduction.h"
#include "cpu/kernels/thread_pool.h"

#include <algorithm>
#include <cstdint>

namespace torchere::cpu {

/// A tensor, the places of slices in it, and a second tensor that holds the slices. The slices are numbered
/// by the batch dimensions. All strides are in elements.
struct IndexedSlices {
  int rank = 0; ///< of the tensor
  int64_t dims[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
  int64_t sizes[kMaxRank] = {};        ///< of a slice
  int64_t sliceStrides[kMaxRank] = {}; ///< of the slices' tensor, along the dimensions of the tensor

  int batchRank = 0;
  int64_t batchDims[kMaxRank] = {};
  int64_t batchStrides[kMaxRank] = {}; ///< of the slices' tensor
  int64_t indexStrides[kMaxRank] = {}; ///< of the indices
  int batchTarget[kMaxRank] = {}; ///< the tensor's dimension that the batch's index is added to; -1 for none

  int components = 0;        ///< of an index
  int target[kMaxRank] = {}; ///< by component: the tensor's dimension
  int64_t componentStride = 0;
  DType indexType = DType::I64; ///< an integer type
  const void *indices = nullptr;

  int64_t count() const;    ///< of slices
  int64_t elements() const; ///< of a slice
};

/// Whether each slice is all elements at some places of other dimensions, and those of neighbouring slices
/// lie beside each other, as where an image is resampled.
bool areColumns(const IndexedSlices &slices);

/// Where a column of slices that areColumns() begins in the tensor and in the slices' tensor.
struct ColumnBegin {
  ColumnBegin(const IndexedSlices &slices, int64_t column) {
    for (int d = slices.rank - 1; d >= 0; --d) {
      from += column % slices.sizes[d] * slices.strides[d];
      to += column % slices.sizes[d] * slices.sliceStrides[d];
      column /= slices.sizes[d];
    }
  }
  int64_t from = 0, to = 0;
};

/// Number `at` of indices of an integer type; the largest of I64 for a larger one.
int64_t indexAt(DType type, const void *indices, int64_t at);

/// Where slices begin, one after another.
class SliceWalk {
public:
  SliceWalk(const IndexedSlices &slices, int64_t first);
  /// The first index of the slice in each of the tensor's dimensions, as the indices give it.
  const int64_t *starts();
  int64_t offset() const { return offset_; } ///< of the slice in the slices' tensor
  void next();

private:
  const IndexedSlices &slices_;
  int64_t position_[kMaxRank] = {};
  int64_t offset_ = 0, indexOffset_ = 0;
  int64_t starts_[kMaxRank] = {};
};

/// Runs of a slice's elements that lie in [low, high) of the tensor.
struct SliceRuns {
  /// Calls fn(offset in the tensor, offset in the slices' tensor, n, stride in either). `first` is the index
  /// of the slice's first element in the tensor, `from` its offset in the slices' tensor.
  template <class Fn>
  static void visit(const IndexedSlices &slices, const int64_t *first, int64_t from, const int64_t *low,
                    const int64_t *high, const Fn &fn);
};

/// output = the slices of the tensor. Places are clamped so that slices lie inside.
void gatherSlices(const Context &context, const IndexedSlices &slices, int elementSize, const void *tensor,
                  void *output);

enum class ScatterJoin : uint8_t { Replace, Sum, Product, Max, Min, And, Or };
/// Of any but Replace.
constexpr Reduction reductionOf(ScatterJoin join) {
  return static_cast<Reduction>(static_cast<int>(join) - 1);
}

/// Joins each update to its element of the tensor, in the order of the slices. Elements outside are skipped.
/// A BF16 or F16 is joined in f32 and rounded.
struct ScatterArgs {
  IndexedSlices slices;
  DType type = DType::F32;
  ScatterJoin join = ScatterJoin::Replace;
  const void *updates = nullptr;
  void *tensor = nullptr;
};
/// Whether there is a kernel: not for the sum of complex numbers, for instance.
bool hasScatter(DType type, ScatterJoin join);
void scatterSlices(const Context &context, const ScatterArgs &args);

/// A scatter is cut by places in the tensor: each part goes through all slices and writes what lies in its
/// range of one dimension.
struct ScatterCut {
  ScatterCut(const IndexedSlices &slices, int64_t elementSize);
  int64_t parts = 1;
  int dimension = 0;
  /// The bounds of a part.
  void bounds(const IndexedSlices &slices, int64_t part, int64_t *low, int64_t *high) const;
};

template <class Fn>
void SliceRuns::visit(const IndexedSlices &slices, const int64_t *first, int64_t from, const int64_t *low,
                      const int64_t *high, const Fn &fn) {
  int64_t begin[kMaxRank], count[kMaxRank], at[kMaxRank] = {}, offset = 0;
  int inner = -1;
  for (int i = 0; i < slices.rank; ++i) {
    // A place may be any number, so that sums of it could overflow.
    if (first[i] >= high[i] || first[i] <= low[i] - slices.sizes[i])
      return;
    begin[i] = std::max<int64_t>(low[i] - first[i], 0);
    count[i] = std::min(slices.sizes[i], high[i] - first[i]) - begin[i];
    if (count[i] <= 0)
      return;
    offset += (first[i] + begin[i]) * slices.strides[i];
    from += begin[i] * slices.sliceStrides[i];
    if (count[i] > 1)
      inner = i;
  }
  if (inner < 0)
    return fn(offset, from, 1, 1, 1);
  while (true) {
    fn(offset, from, count[inner], slices.strides[inner], slices.sliceStrides[inner]);
    int i = inner - 1;
    for (; i >= 0; --i) {
      offset += slices.strides[i];
      from += slices.sliceStrides[i];
      if (++at[i] < count[i])
        break;
      offset -= count[i] * slices.strides[i];
      from -= count[i] * slices.sliceStrides[i];
      at[i] = 0;
    }
    if (i < 0)
      return;
  }
}

} // namespace torchere::cpu
