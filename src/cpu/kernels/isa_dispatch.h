// The kernels of an instruction set, and their names for dtypes.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/isa.h"
#include "cpu/kernels/isa_kernels.h"

namespace torchere::cpu {

const IsaKernels &kernelsOf(Isa isa);

inline FloatType floatType(DType type) {
  if (type == DType::I8 || type == DType::U8)
    return type == DType::I8 ? kInt8 : kUInt8;
  if (!dtypeInfo(type).isFloatingPoint)
    return byteSize(type) == 8 ? kInt64 : kInt32;
  return type == DType::F64 ? kF64 : type == DType::BF16 ? kBF16 : type == DType::F16 ? kF16 : kF32;
}

/// Where part `index` of `count` even parts of `total` begins. The longer ones lie among the others, so that
/// neighbouring parts, which a thread takes, are together about as long as those of other threads.
inline int64_t partBegin(int64_t total, int64_t count, int64_t index) {
  return total / count * index + total % count * index / count;
}
inline int64_t divideUp(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

} // namespace torchere::cpu
