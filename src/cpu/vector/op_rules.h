// What each op of a vector program takes and gives.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/isa.h"
#include "cpu/vector/isa_primitives.h"
#include "cpu/vector/op.h"

namespace torchere::cpu {

const Primitives &primitivesOf(Isa isa);

/// The type that elements of a type are computed in; less than 0 for types that there are no primitives for.
int primitiveType(DType type);
/// The type of a slot: F32 for F16 and BF16.
DType computeType(DType type);

int operandCount(VectorOp op);
inline bool isReduction(VectorOp op) {
  return op >= VectorOp::ReduceSum && op <= VectorOp::ReduceMinimum;
}
inline bool givesBool(VectorOp op) {
  return op == VectorOp::IsFinite || isComparison(op);
}
const char *vectorOpName(VectorOp op);
/// How many additions take as long, about.
inline int64_t costOf(VectorOp op) {
  bool isSeries = (op >= VectorOp::Cbrt && op <= VectorOp::Silu) || op == VectorOp::Power ||
                  op == VectorOp::Atan2 || op == VectorOp::Remainder || op == VectorOp::ThreeFry;
  return isSeries ? 8 : 1;
}

struct VectorInstruction;
/// Whether there is a primitive for the op and the types.
bool opExists(const VectorInstruction &instruction);
DType resultType(const VectorInstruction &instruction);

/// The bits of a reduction's neutral element.
uint64_t neutralBits(VectorOp op, DType type);

} // namespace torchere::cpu
