// Implements the offsets of points.
#include "cpu/kernels/indexed_points.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kMinRun = 8;

/// Calls fn with a pointer to the indices as what they are; not of U64, which may be larger than offsets.
template <class Fn> void withIndices(const IndexedSlices &slices, const Fn &fn) {
  auto as = [&](auto number) { fn(static_cast<const decltype(number) *>(slices.indices)); };
  bool isSigned = dtypeInfo(slices.indexType).isSigned;
  switch (byteSize(slices.indexType)) {
  case 1:
    return isSigned ? as(int8_t()) : as(uint8_t());
  case 2:
    return isSigned ? as(int16_t()) : as(uint16_t());
  case 4:
    return isSigned ? as(int32_t()) : as(uint32_t());
  default:
    return as(int64_t());
  }
}

} // namespace

bool arePoints(const IndexedSlices &slices) {
  if (slices.batchRank == 0 || slices.elements() != 1 || slices.indexType == DType::U64 ||
      slices.batchDims[slices.batchRank - 1] < kMinRun)
    return false;
  return std::all_of(slices.strides, slices.strides + slices.rank, [](int64_t each) { return each >= 0; });
}

bool isOwnPlace(const IndexedSlices &slices, int batchDimension) {
  int target = slices.batchTarget[batchDimension];
  auto isTarget = [&](int other) { return other == target; };
  return target >= 0 && slices.batchDims[batchDimension] <= slices.dims[target] &&
         std::none_of(slices.target, slices.target + slices.components, isTarget) &&
         std::count_if(slices.batchTarget, slices.batchTarget + slices.batchRank, isTarget) == 1;
}

bool areLines(const IndexedSlices &points) {
  int last = points.batchRank - 1;
  bool result = points.components == 1 && points.batchTarget[last] < 0 && points.indexStrides[last] == 1 &&
                (points.indexType == DType::I64 || points.indexType == DType::I32);
  for (int i = 0; i < last; ++i)
    result &= points.batchTarget[i] < 0 || isOwnPlace(points, i);
  return result;
}

/// Of indices beside each other that alone say where the slices are.
template <class T>
void PointWalk::locateLine(const T *indices, int64_t base, int64_t n, bool isClamped,
                           int64_t *offsets) const {
  auto size = static_cast<uint64_t>(slices_.dims[slices_.target[0]]);
  int64_t stride = slices_.strides[slices_.target[0]], last = slices_.dims[slices_.target[0]] - 1;
  if (isClamped) {
    for (int64_t i = 0; i < n; ++i) {
      auto place = static_cast<int64_t>(indices[i]);
      place = place < 0 ? 0 : place > last ? last : place;
      offsets[i] = base + place * stride;
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    auto place = static_cast<int64_t>(indices[i]);
    offsets[i] = static_cast<uint64_t>(place) < size ? base + place * stride : -1;
  }
}

/// Gives the first slice's offset in the slices' tensor.
int64_t PointWalk::locate(int64_t first, int64_t n, bool isClamped, int64_t *offsets) const {
  int last = slices_.batchRank - 1, lastTarget = slices_.batchTarget[last];
  int64_t base = 0, index = 0, from = 0, rest = first;
  for (int d = last; d >= 0; --d) {
    int64_t position = rest % slices_.batchDims[d];
    rest /= slices_.batchDims[d];
    from += position * slices_.batchStrides[d];
    index += position * slices_.indexStrides[d];
    if (slices_.batchTarget[d] >= 0)
      base += position * slices_.strides[slices_.batchTarget[d]];
  }
  int64_t step = lastTarget >= 0 ? slices_.strides[lastTarget] : 0;
  for (int64_t i = 0; i < n; ++i)
    offsets[i] = base + i * step;
  withIndices(slices_, [&](const auto *indices) {
    int64_t indexStep = slices_.indexStrides[last];
    if (slices_.components == 1 && step == 0 && indexStep == 1)
      return locateLine(indices + index, base, n, isClamped, offsets);
    for (int c = 0; c < slices_.components; ++c) {
      const auto *at = indices + index + c * slices_.componentStride;
      int64_t size = slices_.dims[slices_.target[c]], stride = slices_.strides[slices_.target[c]];
      for (int64_t i = 0; i < n; ++i) {
        auto place = static_cast<int64_t>(at[i * indexStep]);
        if (isClamped)
          offsets[i] += std::clamp<int64_t>(place, 0, size - 1) * stride;
        else
          offsets[i] = place >= 0 && place < size && offsets[i] >= 0 ? offsets[i] + place * stride : -1;
      }
    }
  });
  return from;
}

} // namespace torchere::cpu
