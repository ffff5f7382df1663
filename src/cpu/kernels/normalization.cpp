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

} // namespace

void softmax(const Context &context, const SoftmaxArgs &args) {
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
