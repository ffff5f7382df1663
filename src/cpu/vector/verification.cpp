// Whether a program that was read from somewhere can be run: what each slot holds whenever it is read.
#include "cpu/vector/op_rules.h"
#include "cpu/vector/program.h"

namespace torchere::cpu {
namespace {

/// Goes through the instructions in the order in which a row runs them. A tile's values last for a phase;
/// what is there before a tile's instructions must be there again for the next tile, so these write nothing
/// else.
class SlotCheck {
public:
  explicit SlotCheck(const VectorProgram &program) : program(program), slots(program.slots) {}

  Status run() {
    range = Range::Setup;
    TORCHERE_TRY(runRange(0, program.setupEnd));
    if (program.hasWholeRows) {
      range = Range::WholeRows;
      return runRange(program.setupEnd, program.phases.front().end);
    }
    uint32_t begin = program.setupEnd;
    for (const VectorPhase &phase : program.phases) {
      range = Range::Row;
      TORCHERE_TRY(runRange(begin, phase.rowEnd));
      range = Range::Tile;
      TORCHERE_TRY(runRange(phase.rowEnd, phase.end));
      begin = phase.end;
      for (Slot &slot : slots)
        if (slot.holds == Holds::Spread || slot.holds == Holds::Tile)
          slot.holds = Holds::Nothing;
    }
    return {};
  }

private:
  enum class Range : uint8_t { Setup, Row, Tile, WholeRows };
  enum class Holds : uint8_t {
    Nothing,
    Constant, ///< a tile of it, for all rows
    Row,      ///< one element of each row
    Spread,   ///< that of a row as a tile
    Tile,
  };
  struct Slot {
    Holds holds = Holds::Nothing;
    DType type = DType::F32;
  };

  Status runRange(uint32_t begin, uint32_t end) {
    for (at = begin; at < end; ++at)
      TORCHERE_TRY(check(program.instructions[at]));
    return {};
  }

  Status refuse(std::string_view what) const {
    return invalidArgument("[vector program] instruction {}: {}", at, what);
  }

  Status checkIndices(const VectorInstruction &instruction) const {
    bool inBounds = instruction.op == VectorOp::Store || instruction.result < program.slots;
    for (uint16_t operand : instruction.operands) // those that the op does not have are looked up as well
      inBounds &= operand < program.slots;
    size_t limit = instruction.op == VectorOp::Input                          ? program.inputs
                   : instruction.op == VectorOp::Constant                     ? program.constants.size()
                   : instruction.op == VectorOp::Store                        ? program.outputs
                   : range == Range::WholeRows && isReduction(instruction.op) ? program.constants.size()
                                                                              : SIZE_MAX;
    return inBounds && instruction.index < limit ? Status() : refuse("an index is out of bounds");
  }

  /// Which instructions stand where.
  Status checkPlace(const VectorInstruction &instruction) const {
    VectorOp op = instruction.op;
    bool memory = op == VectorOp::Input || op == VectorOp::Store;
    if (memory && range == Range::Setup)
      return refuse("memory is not read before the first row");
    if (range == Range::WholeRows) {
      bool fits = op != VectorOp::Constant && op != VectorOp::Broadcast && op != VectorOp::Iota &&
                  !(instruction.perRow && isReduction(op));
      return fits ? Status() : refuse("it stands in the wrong place");
    }
    bool fits = range == Range::Setup ? op == VectorOp::Constant && !instruction.perRow
                : range == Range::Row
                    ? instruction.perRow && !isReduction(op)
                    : !instruction.perRow && op != VectorOp::Constant && op != VectorOp::Broadcast;
    return fits ? Status() : refuse("it stands in the wrong place");
  }

  Status checkOperands(const VectorInstruction &instruction) const {
    for (int j = 0; j < operandCount(instruction.op); ++j) {
      const Slot &slot = slots[instruction.operands[j]];
      DType type = instruction.op == VectorOp::Select && j == 0 ? DType::Bool : instruction.type;
      bool isThere = slot.holds == Holds::Constant;
      if (range == Range::WholeRows)
        isThere |= slot.holds == Holds::Row || (slot.holds == Holds::Tile && !instruction.perRow);
      else
        isThere |= range == Range::Row ? slot.holds == Holds::Row
                                       : slot.holds == Holds::Spread || slot.holds == Holds::Tile;
      if (!isThere || slot.type != type)
        return refuse("an operand that is not there, or of another type");
    }
    return {};
  }

  Status check(const VectorInstruction &instruction) {
    if (!opExists(instruction))
      return refuse("no such op of this type");
    TORCHERE_TRY(checkIndices(instruction));
    TORCHERE_TRY(checkPlace(instruction));
    TORCHERE_TRY(checkOperands(instruction));
    if (instruction.op == VectorOp::Store)
      return {};
    Slot &result = slots[instruction.result];
    if (range == Range::WholeRows) {
      if (result.holds == Holds::Constant)
        return refuse("a slot whose value is still needed");
      bool isOfRows = instruction.perRow || isReduction(instruction.op);
      result = {isOfRows ? Holds::Row : Holds::Tile, resultType(instruction)};
      return {};
    }
    if (isReduction(instruction.op)) {
      bool isBegun = result.holds == Holds::Row && result.type == instruction.type;
      return isBegun ? Status() : refuse("a reduction that does not begin with an element");
    }
    bool isFree = result.holds == Holds::Nothing ||
                  (range == Range::Row ? result.holds == Holds::Row : result.holds == Holds::Tile);
    if (!isFree)
      return refuse("a slot whose value is still needed");
    result.type = resultType(instruction);
    result.holds = range == Range::Setup                   ? Holds::Constant
                   : range == Range::Tile                  ? Holds::Tile
                   : instruction.op == VectorOp::Broadcast ? Holds::Spread
                                                           : Holds::Row;
    return {};
  }

  const VectorProgram &program;
  std::vector<Slot> slots;
  Range range = Range::Setup;
  uint32_t at = 0;
};

} // namespace

Status VectorProgram::verify() const {
  uint32_t end = setupEnd;
  for (const VectorPhase &phase : phases) {
    if (phase.rowEnd < end || phase.end < phase.rowEnd)
      return invalidArgument("[vector program] phases out of order");
    end = phase.end;
  }
  if (hasWholeRows && (phases.size() != 1 || phases.front().rowEnd != setupEnd))
    return invalidArgument("[vector program] {} phases of whole rows: expected one that begins with the tile",
                           phases.size());
  if (end != instructions.size() || slots > mostSlots)
    return invalidArgument("[vector program] phases end at instruction {}, {} slots: expected {}, at most {}",
                           end, slots, instructions.size(), mostSlots);
  return SlotCheck(*this).run();
}

Status VectorProgram::verifyLanes(std::span<const DType> inputTypes,
                                  std::span<const DType> outputTypes) const {
  TORCHERE_TRY(verify());
  if (inputs != inputTypes.size() || outputs != outputTypes.size())
    return invalidArgument("[vector program] operands: got {} and {}, expected {} and {}", inputs, outputs,
                           inputTypes.size(), outputTypes.size());
  if (hasRows())
    return invalidArgument("[vector program] rows in a program of lanes");
  for (uint32_t i = setupEnd; i < instructions.size(); ++i) {
    const VectorInstruction &instruction = instructions[i];
    VectorOp op = instruction.op;
    if (op == VectorOp::Iota || isReduction(op))
      return invalidArgument("[vector program] instruction {}: {} in a program of lanes", i,
                             vectorOpName(op));
    if (op != VectorOp::Input && op != VectorOp::Store)
      continue;
    DType type = (op == VectorOp::Input ? inputTypes : outputTypes)[instruction.index];
    if (byteSize(instruction.to) != byteSize(type))
      return invalidArgument("[vector program] instruction {}: elements of another size: got {}, expected {}",
                             i, dtypeInfo(instruction.to).shortName, dtypeInfo(type).shortName);
  }
  return {};
}

} // namespace torchere::cpu
