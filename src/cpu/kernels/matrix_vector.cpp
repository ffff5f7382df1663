// Matrices, each read once where it lies: rows are summed along their elements, or with each other.
#include "cpu/kernels/matrix_vector.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartElements = 32768;
constexpr int64_t kMaxParts = 64;
/// Results that lie in the rows' direction are summed so many at a time at most, and stay in the L1 cache; by
/// fewer, pieces of rows would be too short for what the processor fetches ahead.
constexpr int64_t kMostColumns = 2048, kFewColumns = 256;
constexpr int kVector = 6; // scratch

bool isByte(DType type) {
  return type == DType::I8 || type == DType::U8;
}

/// The vector as the kernels take it: contiguous, and bytes widened.
const void *denseVector(const MatrixVectorArgs &args, int64_t batch) {
  auto size = static_cast<int64_t>(byteSize(args.vectorType));
  const std::byte *b = args.b + batch * args.bBatchStride * size;
  if (args.bStride == 1 && !isByte(args.vectorType))
    return b;
  void *scratch = ThreadPool::scratch(static_cast<size_t>(args.n) * 8, kVector);
  for (int64_t i = 0; i < args.n; ++i) {
    const std::byte *element = b + i * args.bStride * size;
    if (args.vectorType == DType::I8)
      static_cast<int32_t *>(scratch)[i] = static_cast<int8_t>(*element);
    else if (args.vectorType == DType::U8)
      static_cast<int32_t *>(scratch)[i] = static_cast<uint8_t>(*element);
    else
      std::memcpy(static_cast<std::byte *>(scratch) + i * size, element, static_cast<size_t>(size));
  }
  return scratch;
}

} // namespace

bool hasMatrixVector(DType type, DType vectorType, DType resultType) {
  if (isByte(type))
    return isByte(vectorType) && resultType == DType::I32;
  bool isKnown = type == DType::F32 || type == DType::F64 || type == DType::I32 || type == DType::I64 ||
                 type == DType::U32 || type == DType::U64;
  return isKnown && vectorType == type && resultType == type;
}

void multiplyByVector(const Context &context, const MatrixVectorArgs &args) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  FloatType type = floatType(args.type);
  bool isAlong = args.aColumnStride == 1;
  int64_t step = isAlong ? 1 : kFewColumns, most = isAlong ? args.m : kMostColumns;
  int64_t units = args.batches * divideUp(args.m, step);
  int64_t parts =
      std::clamp<int64_t>(args.batches * args.m * args.n / kPartElements, 1, std::min(kMaxParts, units));
  auto size = static_cast<int64_t>(byteSize(args.type)), resultSize = std::max<int64_t>(size, 4);
  int64_t unitsOfBatch = divideUp(args.m, step);
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t unit = partBegin(units, parts, part), end = partBegin(units, parts, part + 1), last = -1;
    MatrixVectorJob job;
    while (unit < end) {
      int64_t batch = unit / unitsOfBatch, first = unit % unitsOfBatch * step;
      int64_t count = std::min({args.m - first, (end - unit) * step, most});
      if (batch != last)
        job.vector = denseVector(args, last = batch);
      job.matrix = args.a + (batch * args.aBatchStride + first * args.aRowStride) * size;
      job.rowStride = isAlong ? args.aRowStride : args.aColumnStride;
      job.rows = isAlong ? count : args.n;
      job.columns = isAlong ? args.n : count;
      job.result = args.c + (batch * args.m + first) * resultSize;
      (isAlong ? kernels.rowDots : kernels.rowSums)[type](job);
      unit += divideUp(count, step);
    }
  });
}

} // namespace torchere::cpu
