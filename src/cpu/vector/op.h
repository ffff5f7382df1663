// The ops of vector programs.
#pragma once

#include <stdint.h>

namespace torchere::cpu {

/// Named after StableHLO's ops, whose meaning they have.
enum class VectorOp : uint8_t {
  // Sources: an operand in memory, a constant, the index along a dimension.
  Input,
  Constant,
  Iota,
  // One operand.
  Abs,
  Negate,
  Sign,
  Floor,
  Ceil,
  RoundNearestAfz,
  RoundNearestEven,
  Sqrt,
  Rsqrt,
  Cbrt,
  Exponential,
  ExponentialMinusOne,
  Log,
  LogPlusOne,
  Logistic,
  Sine,
  Cosine,
  Tan,
  Tanh,
  Erf,
  Erfc,
  ErfInv,
  Gelu,
  GeluTanh,
  Silu,
  IsFinite,
  Not,
  PopulationCount,
  CountLeadingZeros,
  RoundToF16,
  RoundToBF16, ///< of f32: to the nearest of that type, kept as f32
  Convert,
  Bitcast, ///< to the type that is given
  // Two operands of one type.
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  Maximum,
  Minimum,
  Power,
  Atan2,
  And,
  Or,
  Xor,
  ShiftLeft,
  ShiftRightArithmetic,
  ShiftRightLogical,
  ThreeFry, ///< of a counter and a key, of two words of 32 bits each, the first in the upper half; so is the
            ///< result
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  // Three: (predicate, on true, on false) and (min, operand, max).
  Select,
  Clamp,
  // Of a row, that is along the last dimension; the result is one element a row.
  ReduceSum,
  ReduceProduct,
  ReduceMaximum,
  ReduceMinimum,
  // What the builder adds: a row's element in a whole tile, a result to memory.
  Broadcast,
  Store,
};

constexpr bool isComparison(VectorOp op) {
  return op >= VectorOp::Equal && op <= VectorOp::GreaterEqual;
}
/// Of a comparison: its place among them.
constexpr int comparisonNumber(VectorOp op) {
  return static_cast<int>(op) - static_cast<int>(VectorOp::Equal);
}

} // namespace torchere::cpu
