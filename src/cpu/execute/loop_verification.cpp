// Whether a loop program that was read from somewhere can be run: all places in the registers, targets and
// parts of tensors are inside, whatever the values are.
#include "cpu/execute/loop_program.h"
#include "cpu/plan/limits.h"
#include "cpu/vector/op_rules.h"
#include "cpu/vector/program.h"

#include <algorithm>

namespace torchere::cpu {

namespace {

class LoopCheck {
public:
  LoopCheck(const LoopProgram &program, int64_t registerBytes, const PlanLimits &limits)
      : program(program), registerBytes(registerBytes), limits(limits) {}

  Status run() {
    for (const LoopAccess &access : program.accesses)
      TORCHERE_TRY(checkAccess(access));
    for (uint32_t target : program.targets)
      TORCHERE_TRY(checkTarget(target));
    int64_t inRow = 0;
    for (const LoopInstruction &instruction : program.instructions) {
      TORCHERE_TRY(check(instruction));
      inRow =
          instruction.op == LoopOp::Jump || instruction.op == LoopOp::Switch || instruction.op == LoopOp::Run
              ? 0
              : inRow + 1;
      TORCHERE_TRY(expect(inRow <= LoopProgram::mostInRow, "instructions in a row: expected at most {}",
                          LoopProgram::mostInRow));
    }
    return {};
  }

private:
  Status checkPlace(uint32_t place, int64_t bytes) const {
    return expect(bytes >= 0 && bytes <= registerBytes && place <= registerBytes - bytes,
                  "{} bytes at {}: expected some of {} bytes of registers", bytes, place, registerBytes);
  }
  Status checkElements(uint32_t place, DType type, int64_t count) const {
    TORCHERE_TRY(expectWithin("elements of a register", {count}, 0, LoopProgram::mostBytes));
    return checkPlace(place, count * static_cast<int64_t>(byteSize(type)));
  }
  Status checkTarget(int64_t target) const {
    return expectWithin("the target of a jump", {target}, 0,
                        static_cast<int64_t>(program.instructions.size()));
  }

  Status checkAccess(const LoopAccess &access) const {
    const View &whole = access.whole;
    TORCHERE_TRY(limits.reads(whole));
    TORCHERE_TRY(expectEqual("dimensions of a part", access.part.size(), whole.shape.size()));
    for (size_t i = 0; i < access.part.size(); ++i)
      TORCHERE_TRY(expectWithin("sizes of a part", {access.part[i]}, 0, whole.shape[i]));
    TORCHERE_TRY(expect(isContiguousPart(whole, access.part), "a part with gaps"));
    TORCHERE_TRY(expect(elementCount(access.part) > 0, "a part without elements"));
    if (!access.starts.empty() || access.isDropped)
      TORCHERE_TRY(expectEqual("starts of a part", access.starts.size(), access.part.size()));
    for (const LoopIndex &start : access.starts) {
      TORCHERE_TRY(expect(isInteger(start.type) || isBool(start.type), "a start: got {}",
                          elementTypeInfo(start.type).name));
      TORCHERE_TRY(checkPlace(start.place, elementTypeInfo(start.type).bytes()));
      TORCHERE_TRY(expectWithin("what is added to a start", {start.wrap}, 0, mostElements));
    }
    return {};
  }

  Status checkApply(const LoopInstruction &instruction) const {
    VectorInstruction same;
    same.op = instruction.function;
    same.type = instruction.type;
    same.to = instruction.to;
    bool isFunction = same.op > VectorOp::Iota && same.op < VectorOp::ReduceSum;
    TORCHERE_TRY(expect(isFunction && opExists(same), "no such function of this type"));
    for (int i = 0; i < operandCount(same.op); ++i) {
      bool isPredicate = same.op == VectorOp::Select && i == 0;
      TORCHERE_TRY(
          checkElements(instruction.operands[i], isPredicate ? DType::Bool : same.type, instruction.count));
    }
    return checkElements(instruction.result, resultType(same), instruction.count);
  }

  Status checkFold(const LoopInstruction &instruction) const {
    VectorInstruction same;
    same.op = instruction.function;
    same.type = same.to = instruction.type;
    TORCHERE_TRY(expect(isReduction(same.op) && opExists(same), "no such reduction of this type"));
    const auto &[rows, columns, rest, none] = instruction.sizes;
    TORCHERE_TRY(checkElements(instruction.operands[0], same.type, boundedProduct({rows, columns})));
    TORCHERE_TRY(checkElements(instruction.operands[1], same.type, 1));
    return checkElements(instruction.result, same.type, boundedProduct({rows}));
  }

  Status checkProduct(const LoopInstruction &instruction) const {
    TORCHERE_TRY(expect(instruction.type == DType::F32 || instruction.type == DType::F64, "a product of {}",
                        dtypeInfo(instruction.type).shortName));
    const auto &[batches, m, k, n] = instruction.sizes;
    TORCHERE_TRY(expectWithin("sizes of a product", instruction.sizes, 0, LoopProgram::mostBytes));
    TORCHERE_TRY(checkElements(instruction.operands[0], instruction.type, boundedProduct({batches, m, k})));
    TORCHERE_TRY(checkElements(instruction.operands[1], instruction.type, boundedProduct({batches, k, n})));
    return checkElements(instruction.result, instruction.type, boundedProduct({batches, m, n}));
  }

  /// From the lowest to the highest of the elements that are read.
  Status checkArrangement(const LoopInstruction &instruction) const {
    TORCHERE_TRY(expect(primitiveType(instruction.type) >= 0, "no such elements"));
    const auto &[rows, columns, rowStride, columnStride] = instruction.sizes;
    auto size = static_cast<int64_t>(byteSize(instruction.type));
    TORCHERE_TRY(checkElements(instruction.result, instruction.type, boundedProduct({rows, columns})));
    TORCHERE_TRY(
        expectWithin("strides", {rowStride, columnStride}, -LoopProgram::mostBytes, LoopProgram::mostBytes));
    if (rows == 0 || columns == 0)
      return {};
    int64_t toRow = (rows - 1) * rowStride, toColumn = (columns - 1) * columnStride;
    int64_t low = std::min<int64_t>(toRow, 0) + std::min<int64_t>(toColumn, 0);
    int64_t high = std::max<int64_t>(toRow, 0) + std::max<int64_t>(toColumn, 0);
    int64_t first = instruction.operands[0] + low * size;
    TORCHERE_TRY(expect(first >= 0, "elements before the registers"));
    return expect(high - low < registerBytes && first + (high - low + 1) * size <= registerBytes,
                  "elements behind the registers");
  }

  Status checkMemory(const LoopInstruction &instruction) const {
    TORCHERE_TRY(expect(instruction.index < program.accesses.size(), "access {}: expected one of {}",
                        instruction.index, program.accesses.size()));
    const LoopAccess &access = program.accesses[instruction.index];
    int64_t bytes = elementCount(access.part) * access.whole.elementSize();
    if (instruction.op == LoopOp::Read) {
      TORCHERE_TRY(expect(!access.isDropped, "a part that is read is inside"));
      return checkPlace(instruction.result, bytes);
    }
    TORCHERE_TRY(limits.writes(access.whole));
    return checkPlace(instruction.operands[0], bytes);
  }

  Status check(const LoopInstruction &instruction) const {
    switch (instruction.op) {
    case LoopOp::Apply:
      return checkApply(instruction);
    case LoopOp::Spread:
      TORCHERE_TRY(expect(primitiveType(instruction.type) >= 0, "no such elements"));
      TORCHERE_TRY(checkElements(instruction.operands[0], instruction.type, 1));
      return checkElements(instruction.result, instruction.type, instruction.count);
    case LoopOp::Arrange:
      return checkArrangement(instruction);
    case LoopOp::Product:
      return checkProduct(instruction);
    case LoopOp::Fold:
      return checkFold(instruction);
    case LoopOp::Move:
      TORCHERE_TRY(checkPlace(instruction.operands[0], instruction.count));
      return checkPlace(instruction.result, instruction.count);
    case LoopOp::Read:
    case LoopOp::Write:
      return checkMemory(instruction);
    case LoopOp::JumpIf:
    case LoopOp::JumpUnless:
      TORCHERE_TRY(checkPlace(instruction.operands[0], 1));
      return checkTarget(instruction.index);
    case LoopOp::Jump:
      return checkTarget(instruction.index);
    case LoopOp::Switch:
      TORCHERE_TRY(checkPlace(instruction.operands[0], 4));
      TORCHERE_TRY(
          expect(instruction.count > 0 && instruction.index <= program.targets.size() &&
                     instruction.count <= static_cast<int64_t>(program.targets.size() - instruction.index),
                 "{} targets from {} on: expected some of {}", instruction.count, instruction.index,
                 program.targets.size()));
      return {};
    case LoopOp::Run:
      return expect(instruction.index < program.steps.size(), "step {}: expected one of {}",
                    instruction.index, program.steps.size());
    }
    return {};
  }

  const LoopProgram &program;
  int64_t registerBytes;
  const PlanLimits &limits;
};

} // namespace

Status LoopProgramStep::restore(const PlanLimits &limits) {
  int64_t bytes = elementCount(registers.shape);
  TORCHERE_TRY(limits.writesDense(registers, DType::U8, bytes));
  TORCHERE_TRY(expectWithin("bytes of registers", {bytes}, 0, LoopProgram::mostBytes));
  TORCHERE_TRY(LoopCheck(program, bytes, limits).run());
  derive(limits.isa());
  return {};
}

} // namespace torchere::cpu
