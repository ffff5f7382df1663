// Implements interpolation along an axis.
#include "cpu/kernels/interpolation.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartBytes = 32768;
constexpr int64_t kMaxParts = 64;
/// Of outputs along the axis whose places are clamped at a time.
constexpr int64_t kChunk = 128;

/// The places of a chunk, as offsets into a plane.
class Chunk {
public:
  Chunk(const InterpolationArgs &args, int64_t begin, int64_t end);
  void run(const IsaKernels &kernels, int64_t outer) const;

private:
  const InterpolationArgs &args;
  int64_t begin, count;
  int64_t offsets[kMaxInterpolationTaps][kChunk];
};

Chunk::Chunk(const InterpolationArgs &args, int64_t begin, int64_t end)
    : args(args), begin(begin), count(end - begin) {
  for (int64_t tap = 0; tap < args.tapCount; ++tap)
    for (int64_t j = 0; j < count; ++j) {
      const void *places = args.taps[tap].places;
      int64_t place = args.placeBytes == 8 ? static_cast<const int64_t *>(places)[begin + j]
                                           : static_cast<const int32_t *>(places)[begin + j];
      offsets[tap][j] = std::clamp<int64_t>(place, 0, args.inputSize - 1) * args.inner;
    }
}

void Chunk::run(const IsaKernels &kernels, int64_t outer) const {
  InterpolationJob job;
  job.input = args.input + outer * args.inputSize * args.inner;
  job.output = args.output + (outer * args.outputSize + begin) * args.inner;
  job.count = count;
  job.inner = args.inner;
  job.tapCount = args.tapCount;
  const int64_t *places[kMaxInterpolationTaps];
  const float *weights[kMaxInterpolationTaps];
  for (int64_t tap = 0; tap < args.tapCount; ++tap) {
    places[tap] = offsets[tap];
    weights[tap] = args.taps[tap].weights + begin;
  }
  job.offsets = places;
  job.weights = weights;
  kernels.interpolate(job);
}

} // namespace

void interpolate(const Context &context, const InterpolationArgs &args) {
  int64_t bytes = args.outer * args.outputSize * args.inner * int64_t{sizeof(float)};
  if (bytes == 0)
    return;
  const IsaKernels &kernels = kernelsOf(context.isa);
  int64_t wanted = std::clamp<int64_t>(bytes / kPartBytes, 1, kMaxParts);
  // Bands of the axis where there are few planes.
  int64_t bands = std::clamp<int64_t>(divideUp(wanted, args.outer), 1, args.outputSize);
  int64_t units = bands * args.outer, parts = std::min(wanted, units);
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t last = partBegin(units, parts, part + 1);
    for (int64_t unit = partBegin(units, parts, part), next; unit < last; unit = next) {
      int64_t band = unit / args.outer, first = unit % args.outer;
      next = std::min(last, (band + 1) * args.outer);
      int64_t end = partBegin(args.outputSize, bands, band + 1);
      for (int64_t j = partBegin(args.outputSize, bands, band); j < end; j += kChunk) {
        Chunk chunk(args, j, std::min(end, j + kChunk));
        for (int64_t outer = first; outer < first + (next - unit); ++outer)
          chunk.run(kernels, outer);
      }
    }
  });
}

} // namespace torchere::cpu
