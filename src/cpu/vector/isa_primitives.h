// The table of primitives that are compiled for each instruction set. Plain data and pointers only.
#pragma once

#include <stdint.h>

namespace torchere::cpu {

/// The types that primitives compute in, in the order of DType.
enum PrimitiveType : int {
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kFloat,
  kDouble,
  kPrimitiveTypes
};
constexpr int kVectorOps = 80;

/// n elements; `result` may be an operand. Reductions join the operand to the one element of `result`.
using Primitive = void (*)(void *result, const void *a, const void *b, const void *c, int64_t n);

struct Primitives {
  Primitive ops[kVectorOps][kPrimitiveTypes] = {}; ///< [VectorOp][type of the operands]
  Primitive converts[kPrimitiveTypes][kPrimitiveTypes] = {};
  Primitive broadcasts[4] = {};  ///< the first element of `a` to all, by log2 of its size
  Primitive halfToFloat[2] = {}; ///< of F16, of BF16
  Primitive floatToHalf[2] = {};
};

namespace baseline {
const Primitives &primitives();
}
namespace avx2 {
const Primitives &primitives();
}
namespace avx512 {
const Primitives &primitives();
}

} // namespace torchere::cpu
