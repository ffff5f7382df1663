// Implements sums of gathered elements.
#include "cpu/kernels/gathered_sums.h"

#include "cpu/kernels/indexed_points.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartElements = 8192; ///< of the output
constexpr int64_t kMaxParts = 64;
/// Slices whose places are looked up at a time, for all columns.
constexpr int64_t kChunk = 256;
constexpr int kPlaces = 6; // scratch

/// Slices [begin, end) of some columns.
class Chunk {
public:
  Chunk(const GatheredSumArgs &args, int64_t begin, int64_t end);
  void run(const IsaKernels &kernels, int64_t firstColumn, int64_t endColumn) const;

private:
  const GatheredSumArgs &args_;
  int64_t count_, first_ = 0; ///< the offset of the first in the output
  const int64_t *offsets_[kMaxInterpolationTaps];
  const float *weights_[kMaxInterpolationTaps];
};

Chunk::Chunk(const GatheredSumArgs &args, int64_t begin, int64_t end) : args_(args), count_(end - begin) {
  auto *places = static_cast<int64_t *>(
      ThreadPool::scratch(static_cast<size_t>(args.tapCount * kChunk) * sizeof(int64_t), kPlaces));
  for (int64_t tap = 0; tap < args.tapCount; ++tap, places += kChunk) {
    IndexedSlices slices = args.slices;
    slices.indices = args.taps[tap].places;
    int64_t *to = places;
    PointWalk(slices).visit(begin, end, /*isClamped=*/true,
                            [&](int64_t first, int64_t, const int64_t *offsets, int64_t n) {
                              if (to == places)
                                first_ = first;
                              to = std::copy(offsets, offsets + n, to);
                            });
    offsets_[tap] = places;
    weights_[tap] = args.taps[tap].weights + begin;
  }
}

void Chunk::run(const IsaKernels &kernels, int64_t firstColumn, int64_t endColumn) const {
  InterpolationJob job;
  job.count = count_;
  job.tapCount = args_.tapCount;
  job.offsets = offsets_;
  job.weights = weights_;
  for (int64_t column = firstColumn; column < endColumn; ++column) {
    ColumnBegin begin(args_.slices, column);
    job.input = args_.tensor + begin.from;
    job.output = args_.output + begin.to + first_;
    kernels.interpolate(job);
  }
}

} // namespace

void sumGathered(const Context &context, const GatheredSumArgs &args) {
  int64_t count = args.slices.count(), columns = args.slices.elements();
  if (count * columns == 0)
    return;
  const IsaKernels &kernels = kernelsOf(context.isa);
  int64_t chunks = divideUp(count, kChunk);
  int64_t wanted = std::clamp<int64_t>(count * columns / kPartElements, 1, kMaxParts);
  int64_t groups = std::clamp<int64_t>(wanted / chunks, 1, columns); // of columns
  context.pool.parallelFor(chunks * groups, [&](int64_t part) {
    int64_t begin = part / groups * kChunk, group = part % groups;
    Chunk(args, begin, std::min(count, begin + kChunk))
        .run(kernels, partBegin(columns, groups, group), partBegin(columns, groups, group + 1));
  });
}

} // namespace torchere::cpu
