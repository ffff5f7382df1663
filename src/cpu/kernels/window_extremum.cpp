// How windows become rows, each of which meets the elements that a window has, one after the other.
#include "cpu/kernels/window_extremum.h"

#include "cpu/kernels/extremum.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/window_search.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartElements = 16384;
constexpr int64_t kMaxParts = 64;
constexpr int kRowBuffers = 7; // scratch

template <class T> void clearRow(int64_t count, bool isLargest, void *values, void *places) {
  auto *best = static_cast<T *>(values);
  std::fill(best, best + count, weakestNumber<T>(isLargest));
  std::memset(places, -1, static_cast<size_t>(count) * sizeof(T));
}

template <class From, class To> void widenPlaces(const void *from, void *to, int64_t count, int64_t empty) {
  const auto *places = static_cast<const From *>(from);
  auto *made = static_cast<To *>(to);
  for (int64_t i = 0; i < count; ++i)
    made[i] = static_cast<To>(places[i] < 0 ? empty : places[i]);
}

/// The offset of element `tap` of window `index`, along a dimension: before 0 or beyond the size in padding.
int64_t elementOf(const WindowExtremumArgs &args, size_t dimension, int64_t index, int64_t tap) {
  return index * args.strides[dimension] - args.padding[dimension] + tap * args.dilations[dimension];
}

} // namespace

WindowSearch::WindowSearch(Isa isa, const WindowExtremumArgs &args)
    : args_(args), meet_(kernelsOf(isa).windowExtrema[static_cast<int>(args.type)]),
      size_(byteSize(args.type)) {
  int64_t stride = args.strides[2], last = args.dims[2] - 1;
  for (int64_t tap = 0; tap < args.windowDims[2]; ++tap) {
    int64_t offset = elementOf(args, 2, 0, tap);
    int64_t begin = offset < 0 ? divideUp(-offset, stride) : 0;
    int64_t end = last < offset ? 0 : std::min(args.outputDims[2], (last - offset) / stride + 1);
    if (begin < end)
      taps_.push_back({offset, begin, end});
  }
}

void WindowSearch::run(int64_t plane, int64_t row, void *values, void *places) const {
  withNumber(args_.type, [&](auto number) {
    clearRow<decltype(number)>(args_.outputDims[2], args_.isLargest, values, places);
  });
  WindowExtremaJob job;
  job.input = static_cast<const char *>(args_.input) + plane * args_.planeElements() * size_;
  job.step = args_.strides[2];
  job.taps = taps_.data();
  job.tapCount = static_cast<int64_t>(taps_.size());
  job.isLargest = args_.isLargest;
  job.nanWins = args_.rule == WindowRule::FirstOrNan;
  job.values = values;
  job.places = places;
  for (int64_t i = 0; i < args_.windowDims[0]; ++i) {
    int64_t depth = elementOf(args_, 0, row / args_.outputDims[1], i);
    for (int64_t k = 0; k < args_.windowDims[1] && depth >= 0 && depth < args_.dims[0]; ++k) {
      int64_t height = elementOf(args_, 1, row % args_.outputDims[1], k);
      if (height < 0 || height >= args_.dims[1])
        continue;
      job.first = (depth * args_.dims[1] + height) * args_.dims[2];
      meet_(job);
    }
  }
}

void findWindowExtrema(const Context &context, const WindowExtremumArgs &args, void *values, void *places) {
  int64_t count = args.outputDims[2], size = byteSize(args.type), placeSize = byteSize(args.placeType);
  int64_t rows = args.planes * args.planeRows();
  if (rows * count == 0)
    return;
  WindowSearch search(context.isa, args);
  int64_t work = rows * count * args.windowDims[0] * args.windowDims[1] * args.windowDims[2];
  int64_t parts = std::clamp<int64_t>(work / kPartElements, 1, std::min(kMaxParts, rows));
  auto widen = size == 4 ? (placeSize == 4 ? widenPlaces<int32_t, int32_t> : widenPlaces<int32_t, int64_t>)
                         : (placeSize == 4 ? widenPlaces<int64_t, int32_t> : widenPlaces<int64_t, int64_t>);
  context.pool.parallelFor(parts, [&](int64_t part) {
    void *rowPlaces = ThreadPool::scratch(static_cast<size_t>(count * size), kRowBuffers);
    for (int64_t row = partBegin(rows, parts, part); row < partBegin(rows, parts, part + 1); ++row) {
      search.run(row / args.planeRows(), row % args.planeRows(),
                 static_cast<char *>(values) + row * count * size, rowPlaces);
      widen(rowPlaces, static_cast<char *>(places) + row * count * placeSize, count, args.emptyPlace);
    }
  });
}

} // namespace torchere::cpu
