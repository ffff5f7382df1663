// LoopProgramStep: loops and branches whose bodies are scalars, single elements and short tensors, as one
// program.
//
// Values lie in registers: parts of one buffer, each at its own place, so that steps read and write them as
// well. A loop is a jump backwards; what has no instruction is a step that one runs.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/isa_primitives.h"
#include "cpu/vector/op.h"

#include <tuple>

namespace torchere::cpu {

enum class LoopOp : uint8_t {
  Apply,      ///< a function of vector programs, to `count` elements
  Spread,     ///< one element to `count`
  Arrange,    ///< sizes: rows, columns, strides of both: these elements from the operand on, one by one
  Fold,       ///< sizes: rows, columns: a reduction of rows, which begin with the second operand
  Product,    ///< sizes: batches, m, k, n: of matrices
  Move,       ///< `count` bytes
  Read,       ///< of access `index`, to the result
  Write,      ///< likewise, of the first operand
  Jump,       ///< to instruction `index`
  JumpIf,     ///< likewise, if the first operand is true
  JumpUnless, ///< likewise, if it is false
  Switch,     ///< to one of `count` targets from `index` on; an i32 outside of them chooses the last
  Run,        ///< step `index`
};

/// Places are bytes into the registers.
struct LoopInstruction {
  LoopOp op = LoopOp::Jump;
  VectorOp function = VectorOp::Add;
  DType type = DType::F32; ///< of the operands
  DType to = DType::F32;   ///< of the result, where the function converts
  uint32_t result = 0;
  uint32_t operands[3] = {0, 0, 0};
  int64_t count = 0;
  int64_t sizes[4] = {0, 0, 0, 0};
  uint32_t index = 0;
};

/// An integer in the registers.
struct LoopIndex {
  uint32_t place = 0;
  ElementType type = ElementType::I32;
  int64_t wrap = 0; ///< added to it if it is negative
};

/// A part of a tensor whose elements follow each other there.
struct LoopAccess {
  View whole;
  Sizes part;
  std::vector<LoopIndex> starts; ///< one a dimension, each clamped so that the part is inside; or none: zeros
  bool isDropped = false;        ///< a part that is not inside is not written, and no start is clamped
};

struct LoopProgram {
  std::vector<LoopInstruction> instructions;
  std::vector<uint32_t> targets;
  std::vector<LoopAccess> accesses;
  Steps steps;

  /// So many instructions, no more, follow each other without a jump or a step, and no register is larger.
  static constexpr int64_t mostInRow = 1024;
  static constexpr int64_t mostBytes = int64_t(1) << 20;
};

class LoopProgramStep final : public StoredStep<LoopProgramStep> {
public:
  /// `registers`: bytes.
  LoopProgramStep(LoopProgram program, View registers, Isa isa)
      : program(std::move(program)), registers(std::move(registers)) {
    derive(isa);
  }
  LoopProgramStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.program.instructions, step.program.targets, step.program.accesses,
                    step.program.steps, step.registers);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "loop program"; }
  bool packs(BufferId buffer) const final { return anyPacks(program.steps, buffer); }
  Status prepare(const Frame &frame) const final { return prepareSteps(program.steps, frame); }
  void addPackings(std::vector<Packing> &packings) const final { addPackingsOf(program.steps, packings); }

  /// What an access needs at run time.
  struct Access {
    struct Start {
      uint32_t place;
      ElementType type;
      int64_t wrap;
      int64_t last;   ///< the largest start
      int64_t stride; ///< bytes
    };
    BufferId buffer = 0;
    int64_t offset = 0; ///< bytes
    std::vector<Start> starts;
  };

private:
  void derive(Isa isa);
  ScalarInstruction resolve(const LoopInstruction &instruction, Isa isa) const;

  LoopProgram program;
  View registers;
  std::vector<Access> accesses;
  std::vector<ScalarInstruction> code;
  std::vector<const ScalarInstruction *> targets;
};

/// Whether the elements of the part follow each other in the whole.
bool isContiguousPart(const View &whole, const Sizes &part);

} // namespace torchere::cpu
