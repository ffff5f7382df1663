// Rows in parts.
#include "cpu/kernels/normalization.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartElements = 4096;
constexpr int64_t kMaxParts = 64;
constexpr int kRowScratch = 3;

template <class Body> void eachPart(const Context &context, const RowsArgs &args, const Body &body) {
  if (args.rows == 0 || args.columns == 0)
    return;
  int64_t parts =
      std::clamp<int64_t>(args.rows * args.columns / kPartElements, 1, std::min(kMaxParts, args.rows));
  int64_t size = byteSize(args.type);
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t begin = partBegin(args.rows, parts, part);
    RowsJob job;
    job.input = static_cast<const char *>(args.input) + begin * args.inputRowStride * size;
    job.inputRowStride = args.inputRowStride;
    job.output = static_cast<char *>(args.output) + begin * args.outputRowStride * size;
    job.outputRowStride = args.outputRowStride;
    job.rows = partBegin(args.rows, parts, part + 1) - begin;
    job.columns = args.columns;
    body(job);
  });
}

/// Cut into columns of whole vectors.
void softmaxAcross(const Context &context, const SoftmaxArgs &args) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  int64_t outer = args.rows.rows / args.inner, length = args.rows.columns, size = byteSize(args.rows.type);
  const int64_t width = kAcrossVectors * kernels.lanes, tiles = divideUp(args.inner, width);
  int64_t parts =
      std::clamp<int64_t>(outer * length * args.inner / kPartElements, 1, std::min(kMaxParts, outer * tiles));
  context.pool.parallelFor(parts, [&](int64_t part) {
    AcrossJob job;
    job.rowStride = args.inner;
    job.rows = length;
    job.isLogarithm = args.logarithm;
    job.kept = ThreadPool::scratch(length * width * 4, kRowScratch);
    for (int64_t tile = partBegin(outer * tiles, parts, part),
                 end = partBegin(outer * tiles, parts, part + 1);
         tile < end; ++tile) {
      int64_t column = tile % tiles * width, at = (tile / tiles * length * args.inner + column) * size;
      job.input = static_cast<const char *>(args.rows.input) + at;
      job.output = static_cast<char *>(args.rows.output) + at;
      job.columns = std::min(width, args.inner - column);
      kernels.softmaxAcross[floatType(args.rows.type)](job);
    }
  });
}

} // namespace

void softmax(const Context &context, const SoftmaxArgs &args) {
  if (args.inner > 1 && args.rows.rows > 0 && args.rows.columns > 0)
    return softmaxAcross(context, args);
  const IsaKernels &kernels = kernelsOf(context.isa);
  eachPart(context, args.rows, [&](RowsJob job) {
    job.flag = args.logarithm;
    job.zeroWhenMasked = args.zeroWhenMasked;
    job.scale = ThreadPool::scratch(job.columns * 8, kRowScratch);
    kernels.softmax[floatType(args.rows.type)](job);
  });
}

void normalize(const Context &context, const NormArgs &args) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  eachPart(context, args.rows, [&](RowsJob job) {
    job.flag = args.subtractMean;
    job.epsilon = args.epsilon;
    job.hasWideFactors = args.hasWideFactors;
    job.scale = args.scale;
    job.bias = args.bias;
    kernels.norm[floatType(args.rows.type)](job);
  });
}

} // namespace torchere::cpu
