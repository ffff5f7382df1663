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

/// Complex numbers to their parts, and back; n of each.
using SplitParts = void (*)(const void *numbers, void *real, void *imaginary, int64_t n);
using JoinParts = void (*)(const void *real, const void *imaginary, void *numbers, int64_t n);

/// Rows of elements, which are dense in the result. An operand's rows lie anywhere, or have one element each.
struct TileRowsJob {
  void *result = nullptr;
  const void *operands[4] = {};
  int64_t strides[4] = {}; ///< of an operand's rows, in bytes
  bool isOne[4] = {};      ///< one element a row: not of the first operands that are joined, both
                           ///< (nor of what is clamped, nor of a choice's first)
  int64_t rows = 1, columns = 0;
};
using RowsPrimitive = void (*)(const TileRowsJob &job);

// Two ops of f32 as one, (a first b) second c. Each rounds.
constexpr int kPairFirsts = 3; ///< Add, Subtract, Multiply
enum PairSecond : int {
  kPairAdd,
  kPairSubtract,
  kPairSubtractFrom, ///< c - (a first b)
  kPairMultiply,
  kPairDivide,
  kPairDivideInto, ///< c / (a first b)
  kPairSquare,     ///< without c, as those below
  kPairRoundToF16, ///< as programs of that type round each result
  kPairRoundToBF16,
  kPairSeconds
};
/// What is summed of f32, where nothing else needs it.
enum SummedOp : int { kSumOfProducts, kSumOfSquares, kSumOfSquaredDifferences, kSummedOps };

/// A product of small matrices, whose rows are dense: m x k times k x n.
using SmallProduct = void (*)(void *result, const void *a, const void *b, int64_t m, int64_t k, int64_t n);

/// Of each row, the reduction that begins with the one element `initial`.
using RowFold = void (*)(void *result, const void *initial, const void *x, int64_t rows, int64_t columns);

/// An instruction of a program of scalars, with what is looked up for it. Places are bytes into the
/// registers.
struct ScalarInstruction;
/// What a run has beside the registers.
struct ScalarRun;
/// Does what the instruction at `at` says, and then the ones behind it, up to one that may go elsewhere:
/// returns where to go on, or null at the end.
using ScalarHandler = const ScalarInstruction *(*)(const ScalarInstruction *at, char *registers,
                                                   ScalarRun &run);
struct ScalarInstruction {
  ScalarHandler handler = nullptr;
  Primitive primitive = nullptr;
  SmallProduct product = nullptr;
  RowFold fold = nullptr;
  uint32_t result = 0;
  uint32_t operands[3] = {0, 0, 0};
  int64_t count = 1; ///< of elements or bytes
  const ScalarInstruction *target = nullptr;
  const void *data = nullptr; ///< for handlers of other layers
};
inline const ScalarInstruction *runNext(const ScalarInstruction *at, char *registers, ScalarRun &run) {
  return at[1].handler(at + 1, registers, run); // a jump, where the compiler optimizes
}
constexpr int kComparisons = 6; ///< from VectorOp::Equal on

struct Primitives {
  Primitive ops[kVectorOps][kPrimitiveTypes] = {}; ///< [VectorOp][type of the operands]
  Primitive converts[kPrimitiveTypes][kPrimitiveTypes] = {};
  RowsPrimitive rows[kVectorOps][kPrimitiveTypes] = {}; ///< of two operands and more, where there is one
  RowsPrimitive pairs[kPairFirsts][kPairSeconds] = {};
  RowsPrimitive choices[kComparisons] = {}; ///< (a compared with b) ? c : d, of f32
  /// Joined to what the result holds: an element a row, or, across rows, an element a column.
  RowsPrimitive sumsAlong[kSummedOps] = {}, sumsAcross[kSummedOps] = {};
  Primitive broadcasts[4] = {};  ///< the first element of `a` to all, by log2 of its size
  SplitParts splitParts[2] = {}; ///< of parts of 32 bits, of 64
  JoinParts joinParts[2] = {};
  Primitive halfToFloat[2] = {}; ///< of F16, of BF16
  Primitive floatToHalf[2] = {};
  // Of one element, where that is quicker than a primitive.
  ScalarHandler scalars[kVectorOps][kPrimitiveTypes] = {};
  ScalarHandler scalarConverts[kPrimitiveTypes][kPrimitiveTypes] = {};
  SmallProduct products[kPrimitiveTypes] = {}; ///< of floats
  RowFold rowFolds[kVectorOps][kPrimitiveTypes] = {};
  /// A comparison, from VectorOp::Equal on, and the jump behind it: if it holds, or if it does not.
  ScalarHandler branches[2][kComparisons][kPrimitiveTypes] = {};
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
