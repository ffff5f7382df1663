// Implements LaneProgram.
#include "cpu/vector/lane_program.h"

#include <bit>
#include <cstring>

namespace torchere::cpu {

static constexpr int64_t kAlignment = 64;

LaneProgram::LaneProgram(const VectorProgram &program, Isa isa, int64_t lanes)
    : program_(program), primitives_(primitivesOf(isa)),
      slotBytes_((lanes * 8 + kAlignment - 1) / kAlignment * kAlignment) {
  storage_.resize(static_cast<size_t>(slotBytes_ * program.slots + kAlignment));
  auto address = reinterpret_cast<uintptr_t>(storage_.data());
  memory_ = storage_.data() + (kAlignment - address % kAlignment) % kAlignment;
  for (int slot = 0; slot < program.slots; ++slot)
    slots_.push_back(own(slot));
  for (uint32_t i = 0; i < program.setupEnd; ++i) {
    const VectorInstruction &constant = program.instructions[i];
    int size = static_cast<int>(byteSize(constant.type));
    primitives_.broadcasts[std::countr_zero(static_cast<unsigned>(size))](
        own(constant.result), &program.constants[constant.index], nullptr, nullptr, lanes);
  }
}

void LaneProgram::run(const void *const *inputs, void *const *outputs, int64_t count) {
  for (size_t i = program_.setupEnd; i < program_.instructions.size(); ++i)
    runOne(program_.instructions[i], inputs, outputs, count);
}

void LaneProgram::runOne(const VectorInstruction &instruction, const void *const *inputs,
                         void *const *outputs, int64_t count) {
  bool isHalf = instruction.to == DType::F16 || instruction.to == DType::BF16;
  const std::byte *a = slots_[instruction.operands[0]];
  std::byte *result = own(instruction.result);
  if (instruction.op == VectorOp::Input) {
    if (isHalf)
      primitives_.halfToFloat[instruction.to == DType::BF16](result, inputs[instruction.index], nullptr,
                                                             nullptr, count);
    slots_[instruction.result] = isHalf ? result : static_cast<const std::byte *>(inputs[instruction.index]);
    return;
  }
  if (instruction.op == VectorOp::Store) {
    if (isHalf)
      primitives_.floatToHalf[instruction.to == DType::BF16](outputs[instruction.index], a, nullptr, nullptr,
                                                             count);
    else
      std::memcpy(outputs[instruction.index], a, static_cast<size_t>(count * byteSize(instruction.to)));
    return;
  }
  if (instruction.op == VectorOp::Convert)
    primitives_.converts[primitiveType(instruction.type)][primitiveType(instruction.to)](result, a, nullptr,
                                                                                         nullptr, count);
  else if (instruction.op == VectorOp::Bitcast)
    std::memmove(result, a, static_cast<size_t>(count * byteSize(instruction.type)));
  else
    primitives_.ops[static_cast<int>(instruction.op)][primitiveType(instruction.type)](
        result, a, slots_[instruction.operands[1]], slots_[instruction.operands[2]], count);
  slots_[instruction.result] = result;
}

} // namespace torchere::cpu
