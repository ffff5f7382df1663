// What each op of a vector program takes and gives.
#include "cpu/vector/op_rules.h"

#include "cpu/vector/program.h"

#include <bit>
#include <limits>

namespace torchere::cpu {

const Primitives &primitivesOf(Isa isa) {
#ifdef TORCHERE_CPU_X86
  if (isa == Isa::Avx512)
    return avx512::primitives();
  if (isa == Isa::Avx2)
    return avx2::primitives();
#endif
  (void)isa;
  return baseline::primitives();
}

int primitiveType(DType type) {
  if (computeType(type) == DType::F32)
    return kFloat;
  if (type == DType::F64)
    return kDouble;
  return type <= DType::U64 ? static_cast<int>(type) : -1;
}

DType computeType(DType type) {
  return type == DType::F16 || type == DType::BF16 ? DType::F32 : type;
}

int operandCount(VectorOp op) {
  if (op <= VectorOp::Iota)
    return 0;
  if (op <= VectorOp::Bitcast || isReduction(op) || op == VectorOp::Broadcast || op == VectorOp::Store)
    return 1;
  return op == VectorOp::Select || op == VectorOp::Clamp ? 3 : 2;
}

const char *vectorOpName(VectorOp op) {
  static constexpr const char *names[] = {"Input",
                                          "Constant",
                                          "Iota",
                                          "Abs",
                                          "Negate",
                                          "Sign",
                                          "Floor",
                                          "Ceil",
                                          "RoundNearestAfz",
                                          "RoundNearestEven",
                                          "Sqrt",
                                          "Rsqrt",
                                          "Cbrt",
                                          "Exponential",
                                          "ExponentialMinusOne",
                                          "Log",
                                          "LogPlusOne",
                                          "Logistic",
                                          "Sine",
                                          "Cosine",
                                          "Tan",
                                          "Tanh",
                                          "Erf",
                                          "Erfc",
                                          "ErfInv",
                                          "Gelu",
                                          "GeluTanh",
                                          "Silu",
                                          "IsFinite",
                                          "Not",
                                          "PopulationCount",
                                          "CountLeadingZeros",
                                          "RoundToF16",
                                          "RoundToBF16",
                                          "Convert",
                                          "Bitcast",
                                          "Add",
                                          "Subtract",
                                          "Multiply",
                                          "Divide",
                                          "Remainder",
                                          "Maximum",
                                          "Minimum",
                                          "Power",
                                          "Atan2",
                                          "And",
                                          "Or",
                                          "Xor",
                                          "ShiftLeft",
                                          "ShiftRightArithmetic",
                                          "ShiftRightLogical",
                                          "ThreeFry",
                                          "Equal",
                                          "NotEqual",
                                          "Less",
                                          "LessEqual",
                                          "Greater",
                                          "GreaterEqual",
                                          "Select",
                                          "Clamp",
                                          "ReduceSum",
                                          "ReduceProduct",
                                          "ReduceMaximum",
                                          "ReduceMinimum",
                                          "Broadcast",
                                          "Store"};
  return names[static_cast<int>(op)];
}

namespace {

template <class T> uint64_t neutralFloat(VectorOp op) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  T infinity = std::numeric_limits<T>::infinity();
  T value = op == VectorOp::ReduceSum       ? T(0)
            : op == VectorOp::ReduceProduct ? T(1)
            : op == VectorOp::ReduceMaximum ? -infinity
                                            : infinity;
  return std::bit_cast<Bits>(value);
}

} // namespace

uint64_t neutralBits(VectorOp op, DType type) {
  if (type == DType::F32)
    return neutralFloat<float>(op);
  if (type == DType::F64)
    return neutralFloat<double>(op);
  if (op == VectorOp::ReduceSum || op == VectorOp::ReduceProduct)
    return op == VectorOp::ReduceProduct;
  bool highest = op == VectorOp::ReduceMinimum;
  if (type == DType::Bool)
    return highest;
  int bits = static_cast<int>(byteSize(type)) * 8;
  if (!dtypeInfo(type).isSigned)
    return highest ? ~uint64_t(0) >> (64 - bits) : 0;
  return highest ? ~uint64_t(0) >> (65 - bits) : uint64_t(1) << (bits - 1);
}

bool opExists(const VectorInstruction &instruction) {
  int from = primitiveType(instruction.type), to = primitiveType(instruction.to);
  if (instruction.op > VectorOp::Store || from < 0 || to < 0 ||
      computeType(instruction.type) != instruction.type)
    return false;
  const Primitives &table = primitivesOf(Isa::Baseline);
  VectorOp op = instruction.op;
  if (op == VectorOp::Input || op == VectorOp::Store)
    return computeType(instruction.to) == instruction.type;
  if (op == VectorOp::Constant || op == VectorOp::Broadcast)
    return true;
  if (op == VectorOp::Iota)
    return instruction.type != DType::Bool;
  bool keepsResult = computeType(instruction.to) == instruction.to; // nothing is rounded afterwards
  if (op == VectorOp::Convert)
    return keepsResult && table.converts[from][to];
  if (op == VectorOp::Bitcast)
    return keepsResult && byteSize(instruction.type) == byteSize(instruction.to);
  return table.ops[static_cast<int>(op)][from] != nullptr;
}

DType resultType(const VectorInstruction &instruction) {
  if (instruction.op == VectorOp::Convert || instruction.op == VectorOp::Bitcast)
    return instruction.to;
  return givesBool(instruction.op) ? DType::Bool : instruction.type;
}

} // namespace torchere::cpu
