// Rows of a matrix, each read once and summed along its elements.
#include "cpu/kernels/matrix_vector.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartElements = 32768;
constexpr int64_t kMaxParts = 64;
constexpr int kVector = 6; // scratch

} // namespace

void multiplyByVector(const Context &context, const MatrixVectorArgs &args) {
  auto dots = kernelsOf(context.isa).dots[kF32];
  int64_t all = args.batches * args.m;
  int64_t parts = std::clamp<int64_t>(all * args.k / kPartElements, 1, std::min(kMaxParts, all));
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t row = partBegin(all, parts, part), end = partBegin(all, parts, part + 1);
    while (row < end) {
      int64_t batch = row / args.m, first = row % args.m, rows = std::min(args.m - first, end - row);
      const float *b = args.b + batch * args.bBatchStride;
      if (args.bStride != 1) {
        auto *dense =
            static_cast<float *>(ThreadPool::scratch(static_cast<size_t>(args.k) * sizeof(float), kVector));
        for (int64_t i = 0; i < args.k; ++i)
          dense[i] = b[i * args.bStride];
        b = dense;
      }
      DotsJob job;
      job.q = b;
      job.rows = 1;
      job.k = args.a + batch * args.aBatchStride + first * args.aRowStride;
      job.kStride = args.aRowStride;
      job.keys = rows;
      job.size = args.k;
      job.scores = args.c + row;
      dots(job);
      row += rows;
    }
  });
}

} // namespace torchere::cpu
