// Whether a program that was read from somewhere can be run.
#include "cpu/vector/op_rules.h"
#include "cpu/vector/program.h"

namespace torchere::cpu {
namespace {

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

} // namespace

Status VectorProgram::verify() const {
  uint32_t end = setupEnd;
  for (const VectorPhase &phase : phases) {
    if (phase.rowEnd < end || phase.end < phase.rowEnd)
      return invalidArgument("[vector program] phases out of order");
    end = phase.end;
  }
  if (end != instructions.size() || slots > 4096)
    return invalidArgument(
        "[vector program] phases end at instruction {}, {} slots: expected {}, at most 4096", end, slots,
        instructions.size());
  for (size_t i = 0; i < instructions.size(); ++i) {
    const VectorInstruction &instruction = instructions[i];
    if (!opExists(instruction))
      return invalidArgument("[vector program] instruction {}: no such op of this type", i);
    bool inBounds = instruction.op == VectorOp::Store || instruction.result < slots;
    for (int j = 0; j < operandCount(instruction.op); ++j)
      inBounds &= instruction.operands[j] < slots;
    size_t limit = instruction.op == VectorOp::Input      ? inputs
                   : instruction.op == VectorOp::Constant ? constants.size()
                   : instruction.op == VectorOp::Store    ? outputs
                                                          : SIZE_MAX;
    if (!inBounds || instruction.index >= limit)
      return invalidArgument("[vector program] instruction {}: an index is out of bounds", i);
    bool memory = instruction.op == VectorOp::Input || instruction.op == VectorOp::Store;
    if (memory && i < setupEnd)
      return invalidArgument("[vector program] instruction {}: memory is not read before the first row", i);
  }
  return {};
}

} // namespace torchere::cpu
