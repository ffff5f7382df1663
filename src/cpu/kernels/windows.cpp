// How windows become rows of outputs and taps, and running reductions columns.
#include "cpu/kernels/windows.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <vector>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartElements = 16384;
constexpr int64_t kMaxParts = 64;

/// The offsets of a window's elements, in row-major order.
std::vector<int64_t> tapsOf(const WindowsArgs &args) {
  std::vector<int64_t> taps{0};
  for (int i = 0; i < args.rank; ++i) {
    std::vector<int64_t> next;
    next.reserve(taps.size() * static_cast<size_t>(args.windowDims[i]));
    for (int64_t tap : taps)
      for (int64_t j = 0; j < args.windowDims[i]; ++j)
        next.push_back(tap + j * args.windowStrides[i]);
    taps = std::move(next);
  }
  return taps;
}

/// The output's dimensions; those that one stride walks are one.
struct Rows {
  int rank = 0;
  int64_t dims[kMaxRank], strides[kMaxRank];

  explicit Rows(const WindowsArgs &args) {
    for (int i = 0; i < args.rank; ++i) {
      if (args.outputDims[i] == 1)
        continue;
      if (rank > 0 && strides[rank - 1] == args.outputStrides[i] * args.outputDims[i]) {
        dims[rank - 1] *= args.outputDims[i];
        strides[rank - 1] = args.outputStrides[i];
      } else {
        dims[rank] = args.outputDims[i];
        strides[rank++] = args.outputStrides[i];
      }
    }
    if (rank == 0) {
      dims[0] = 1;
      strides[0] = 1;
      rank = 1;
    }
  }
  int64_t length() const { return dims[rank - 1]; }
  int64_t count() const {
    int64_t product = 1;
    for (int i = 0; i + 1 < rank; ++i)
      product *= dims[i];
    return product;
  }
  int64_t offset(int64_t row) const {
    int64_t sum = 0;
    for (int i = rank - 2; i >= 0; --i) {
      sum += row % dims[i] * strides[i];
      row /= dims[i];
    }
    return sum;
  }
};

} // namespace

void reduceWindows(const Context &context, const WindowsArgs &args) {
  Rows rows(args);
  int64_t length = rows.length(), count = rows.count(), size = byteSize(args.type);
  if (length * count == 0)
    return;
  std::vector<int64_t> taps = tapsOf(args);
  auto tapCount = static_cast<int64_t>(taps.size());
  // A part is a run of outputs: whole rows, or pieces of one.
  int64_t pieces =
      std::clamp<int64_t>(length * tapCount / kPartElements, 1, std::max<int64_t>(length / 64, 1));
  int64_t units = count * pieces;
  int64_t parts =
      std::clamp<int64_t>(count * length * tapCount / kPartElements, 1, std::min(units, kMaxParts));
  WindowFunction function =
      kernelsOf(context.isa).windows[static_cast<int>(args.type)][static_cast<int>(args.reduction)];
  context.pool.parallelFor(parts, [&](int64_t part) {
    for (int64_t unit = partBegin(units, parts, part); unit < partBegin(units, parts, part + 1); ++unit) {
      int64_t row = unit / pieces, piece = unit % pieces;
      int64_t begin = partBegin(length, pieces, piece), end = partBegin(length, pieces, piece + 1);
      WindowJob job;
      job.step = rows.strides[rows.rank - 1];
      job.input = static_cast<const char *>(args.input) + (rows.offset(row) + begin * job.step) * size;
      job.taps = taps.data();
      job.tapCount = tapCount;
      job.count = end - begin;
      job.initial = args.initial;
      job.output = static_cast<char *>(args.output) + (row * length + begin) * size;
      function(job);
    }
  });
}

void reduceRunning(const Context &context, const RunningArgs &args) {
  int64_t total = args.outer * args.length * args.inner, size = byteSize(args.type);
  if (total == 0)
    return;
  constexpr int64_t kColumns = kRunningColumns;
  bool areLines = args.inner == 1; // some of which are gone along together
  int64_t pieces = divideUp(args.inner, kColumns);
  int64_t units = areLines ? divideUp(args.outer, kRunningLines) : args.outer * pieces;
  int64_t parts = std::clamp<int64_t>(total / kPartElements, 1, std::min(units, kMaxParts));
  RunningFunction function =
      kernelsOf(context.isa).running[static_cast<int>(args.type)][static_cast<int>(args.reduction)];
  context.pool.parallelFor(parts, [&](int64_t part) {
    for (int64_t unit = partBegin(units, parts, part); unit < partBegin(units, parts, part + 1); ++unit) {
      int64_t column = unit % pieces * kColumns, begin = unit / pieces * args.length * args.inner + column;
      if (areLines)
        begin = unit * kRunningLines * args.length;
      if (args.backwards)
        begin += (args.length - 1) * args.inner;
      RunningJob job;
      job.input = static_cast<const char *>(args.input) + begin * size;
      job.output = static_cast<char *>(args.output) + begin * size;
      job.stride = args.backwards ? -args.inner : args.inner;
      job.length = args.length;
      job.columns = areLines ? std::min(kRunningLines, args.outer - unit * kRunningLines)
                             : std::min(kColumns, args.inner - column);
      job.apart = areLines ? args.length : 1;
      job.initial = args.initial;
      function(job);
    }
  });
}

} // namespace torchere::cpu
