// Plans vector programs: the walk's dimensions become rows and tiles, instructions calls of primitives.
#include "cpu/vector/vector_plan.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/vector/op_rules.h"
#include "cpu/vector/pass_joiner.h"

#include <algorithm>
#include <utility>

namespace torchere::cpu {

namespace {

constexpr int64_t kPartCost = 32768; ///< of a part, at least
constexpr int64_t kMaxParts = 64;

bool isHalf(const VectorInstruction &instruction) {
  return instruction.to != instruction.type;
}

} // namespace

class VectorPlanner {
public:
  VectorPlanner(VectorPlan &plan, const VectorProgram &program, Isa isa)
      : plan(plan), program(program), primitives(primitivesOf(isa)) {}

  void run(const VectorWalk &walk) {
    copyWalk(walk);
    chooseTile();
    if (!hasIndices && !walk.isArranged) { // which need the dimensions as they are
      dropOnes();
      merge();
      if (!plan.byRows)
        chooseRows();
    }
    layTiles();
    measureOperands();
    resolveInstructions();
    findPlaces();
    findPairs();
    plan.keepsRows = walk.keepsRows;
    plan.joined.assign(static_cast<size_t>(plan.outputCount), false);
    PassJoiner(plan, program, primitives, walk.reductions).run();
  }

private:
  using Operation = VectorPlan::Operation;
  using Action = VectorPlan::Action;

  /// Whether the last dimension is that of rows which mean something.
  bool keepsLast() const { return plan.byRows || plan.hasWholeRows; }
  void chooseTile();
  void copyWalk(const VectorWalk &walk);
  void dropOnes();
  void merge();
  void chooseRows();
  int64_t cost() const;
  void layTiles();
  void measureOperands();
  void resolveInstructions();
  Operation resolve(const VectorInstruction &instruction) const;
  void findPlaces();
  void findPairs();
  static bool areParts(const Operation &first, const Operation &second, Action action,
                       const std::vector<VectorPlan::Operand> &operands);
  static void join(Operation &first, Operation &second, uint16_t slot, Action later, Action pairs);
  int placeOf(uint32_t at, uint32_t end) const;
  bool isKept(const VectorInstruction &instruction) const {
    return instruction.op == VectorOp::Store && instruction.index >= plan.outputs.size();
  }
  template <class Fn> void eachOperand(Fn fn) {
    for (auto *operands : {&plan.inputs, &plan.outputs})
      for (VectorPlan::Operand &operand : *operands)
        fn(operand);
  }

  VectorPlan &plan;
  const VectorProgram &program;
  const Primitives &primitives;
  bool hasIndices = false;
};

VectorPlan::VectorPlan(const VectorProgram &program, Isa isa, const VectorWalk &walk) {
  VectorPlanner(*this, program, isa).run(walk);
}

void VectorPlanner::chooseTile() {
  int64_t largest = 1;
  for (const VectorInstruction &instruction : program.instructions) {
    largest = std::max<int64_t>({largest, static_cast<int64_t>(byteSize(computeType(instruction.type))),
                                 static_cast<int64_t>(byteSize(computeType(instruction.to)))});
    plan.byRows |= instruction.perRow && !program.hasWholeRows;
    hasIndices |= instruction.op == VectorOp::Iota;
  }
  plan.byRows |= hasIndices;
  plan.hasWholeRows = program.hasWholeRows;
  plan.tile = tileElements(program.slots, largest);
  int64_t rows = 0;
  if (plan.hasWholeRows) {
    int64_t columns = std::max<int64_t>(plan.dims[plan.rank - 1], 1);
    rows = std::max<int64_t>(VectorProgram::wholeRowElements / columns, 1);
    plan.tile = rows * columns;
  }
  plan.rowPlace = (plan.tile * largest + 63) / 64 * 64;
  plan.slotBytes = plan.rowPlace + rows * largest / 64 * 64 + 192; // no multiple of 4 KiB
}

void VectorPlanner::copyWalk(const VectorWalk &walk) {
  plan.rank = walk.rank;
  plan.dims = walk.dims;
  for (const VectorStrides &strides : walk.inputs)
    plan.inputs.push_back({strides});
  for (const VectorStrides &strides : walk.outputs)
    plan.outputs.push_back({strides});
}

void VectorPlanner::dropOnes() {
  int kept = 0;
  for (int i = 0; i < plan.rank; ++i) {
    if (plan.dims[i] == 1 && !(keepsLast() && i == plan.rank - 1))
      continue;
    plan.dims[kept] = plan.dims[i];
    eachOperand([&](VectorPlan::Operand &operand) { operand.strides[kept] = operand.strides[i]; });
    ++kept;
  }
  plan.rank = kept;
}

/// Dimensions that all operands walk as one; not the last where rows mean something.
void VectorPlanner::merge() {
  auto &dims = plan.dims;
  for (int i = plan.rank - 2 - keepsLast(); i >= 0; --i) {
    bool joined = true;
    eachOperand([&](const VectorPlan::Operand &operand) {
      joined &= operand.strides[i] == operand.strides[i + 1] * dims[i + 1];
    });
    if (!joined)
      continue;
    dims[i] *= dims[i + 1];
    std::copy(dims.begin() + i + 2, dims.begin() + plan.rank, dims.begin() + i + 1);
    eachOperand([&](VectorPlan::Operand &operand) {
      auto first = operand.strides.begin();
      std::copy(first + i + 1, first + plan.rank, first + i);
    });
    --plan.rank;
  }
}

/// Rows of a tile lie along the last dimension but one. Where that has few, as the halves of a rotary
/// embedding, one that fills tiles takes its place.
void VectorPlanner::chooseRows() {
  if (plan.rank < 3)
    return;
  int rows = plan.rank - 2, best = rows;
  int64_t wanted = plan.tile / std::max<int64_t>(plan.dims[rows + 1], 1);
  auto rowsOfTile = [&](int dimension) { return std::min(plan.dims[dimension], wanted); };
  for (int i = rows - 1; i >= 0; --i)
    if (rowsOfTile(i) > rowsOfTile(best))
      best = i;
  if (rowsOfTile(best) < 2 * rowsOfTile(rows))
    return;
  std::swap(plan.dims[best], plan.dims[rows]);
  eachOperand([&](VectorPlan::Operand &operand) { std::swap(operand.strides[best], operand.strides[rows]); });
}

/// Of an element.
int64_t VectorPlanner::cost() const {
  int64_t sum = 0;
  for (const VectorInstruction &instruction : program.instructions)
    sum += costOf(instruction.op);
  return sum;
}

void VectorPlanner::layTiles() {
  if (plan.rank == 0) {
    plan.dims[plan.rank++] = 1;
    eachOperand([](VectorPlan::Operand &operand) { operand.strides[0] = 1; });
  }
  plan.columns = plan.dims[plan.rank - 1];
  int64_t last = plan.rank > 1 ? plan.dims[plan.rank - 2] : 1, outer = 1;
  plan.rows = plan.byRows ? 1 : last;
  for (int i = 0; i < plan.rank - (plan.byRows ? 1 : 2); ++i)
    outer *= plan.dims[i];
  int64_t wanted = std::clamp<int64_t>(outer * plan.rows * plan.columns * cost() / kPartCost, 1, kMaxParts);
  // Tiles are as long and as high as each other, and enough for all parts.
  auto evenly = [](int64_t size, int64_t most, int64_t least) {
    int64_t count = std::max(divideUp(std::max<int64_t>(size, 1), std::max<int64_t>(most, 1)), least);
    return divideUp(std::max<int64_t>(size, 1), count);
  };
  int64_t groups = std::max<int64_t>(outer, 1);
  plan.tileRows = 1;
  if (!plan.byRows)
    plan.tileRows = evenly(plan.rows, plan.tile / std::max<int64_t>(plan.columns, 1),
                           std::min(plan.rows, divideUp(wanted, groups)));
  groups *= std::max<int64_t>(plan.rowTiles(), 1);
  plan.tileColumns = std::min(plan.columns, plan.tile);
  if (!plan.byRows && !plan.hasWholeRows)
    plan.tileColumns =
        std::min(plan.columns, (evenly(plan.columns, plan.tile, divideUp(wanted, groups)) + 15) / 16 * 16);
  // Small programs do not fill whole tiles with constants.
  plan.tile =
      std::clamp<int64_t>(plan.byRows ? plan.columns : plan.tileRows * plan.tileColumns, 1, plan.tile);
  bool isEmpty =
      outer == 0 || plan.rows == 0 || (plan.columns == 0 && !plan.byRows) || program.phases.empty();
  plan.tiles = isEmpty ? 0 : outer * plan.rowTiles() * plan.columnTiles();
  plan.parts = std::min(wanted, std::max<int64_t>(plan.tiles, 1));
}

void VectorPlanner::measureOperands() {
  for (const VectorInstruction &instruction : program.instructions) {
    if (instruction.op == VectorOp::Input)
      plan.inputs[instruction.index].size = static_cast<int64_t>(byteSize(instruction.to));
    if (instruction.op == VectorOp::Store && !isKept(instruction))
      plan.outputs[instruction.index].size = static_cast<int64_t>(byteSize(instruction.to));
  }
  eachOperand([&](VectorPlan::Operand &operand) {
    operand.beyond = operand.size;
    for (int i = 0; i < plan.rank; ++i) {
      operand.strides[i] *= operand.size;
      (operand.strides[i] < 0 ? operand.lowest : operand.beyond) += (plan.dims[i] - 1) * operand.strides[i];
    }
    operand.columnStride = operand.strides[plan.rank - 1];
    operand.rowStride = plan.rank > 1 ? operand.strides[plan.rank - 2] : 0;
  });
}

void VectorPlanner::resolveInstructions() {
  plan.slots = program.slots;
  plan.outputCount = program.outputs;
  plan.constants = program.constants;
  std::copy(std::begin(primitives.broadcasts), std::end(primitives.broadcasts), plan.broadcasts);
  std::copy(std::begin(primitives.splitParts), std::end(primitives.splitParts), plan.splitParts);
  std::copy(std::begin(primitives.joinParts), std::end(primitives.joinParts), plan.joinParts);
  plan.setupEnd = program.setupEnd;
  for (const VectorPhase &phase : program.phases)
    plan.phases.push_back({phase.rowEnd, phase.end});
  for (const VectorInstruction &instruction : program.instructions)
    plan.operations.push_back(resolve(instruction));
}

VectorPlan::Operation VectorPlanner::resolve(const VectorInstruction &instruction) const {
  int type = primitiveType(instruction.type);
  Operation made;
  made.size = static_cast<uint8_t>(byteSize(instruction.type));
  if (instruction.op != VectorOp::Store)
    made.resultSize = static_cast<uint8_t>(byteSize(resultType(instruction)));
  made.operandCount = static_cast<uint8_t>(operandCount(instruction.op));
  made.perRow = instruction.perRow;
  made.isSelect = instruction.op == VectorOp::Select;
  made.result = instruction.result;
  std::copy(std::begin(instruction.operands), std::end(instruction.operands), made.operands);
  made.index = instruction.index;
  bool reads = instruction.op == VectorOp::Input;
  if (reads || instruction.op == VectorOp::Store) {
    made.action = reads ? Action::Read : isKept(instruction) ? Action::Keep : Action::Write;
    if (made.action == Action::Keep) // whoever takes the tile reads it as it is computed
      return made;
    made.size = static_cast<uint8_t>(byteSize(instruction.to));
    if (isHalf(instruction))
      made.primitive =
          (reads ? primitives.halfToFloat : primitives.floatToHalf)[instruction.to == DType::BF16];
  } else if (instruction.op == VectorOp::Constant) {
    made.action = Action::Fill;
    made.primitive = primitives.broadcasts[log2Of(made.size)];
  } else if (instruction.op == VectorOp::Iota) {
    made.action = Action::CountUp;
    made.primitive = primitives.converts[kI64][type];
  } else if (instruction.op == VectorOp::Broadcast) {
    made.action = Action::Broadcast;
    made.primitive = primitives.broadcasts[log2Of(made.size)];
  } else if (instruction.op == VectorOp::Bitcast) {
    made.action = Action::Move;
  } else if (instruction.op == VectorOp::Convert) {
    made.primitive = primitives.converts[type][primitiveType(instruction.to)];
  } else {
    bool reduces = isReduction(instruction.op);
    made.action = !reduces ? Action::Apply : plan.hasWholeRows ? Action::ReduceRows : Action::Reduce;
    made.primitive = primitives.ops[static_cast<int>(instruction.op)][type];
    made.onRows = primitives.rows[static_cast<int>(instruction.op)][type];
    made.fold = primitives.rowFolds[static_cast<int>(instruction.op)][type];
  }
  return made;
}

void VectorPlanner::findPlaces() {
  for (const VectorPhase &phase : program.phases)
    for (uint32_t at = phase.rowEnd; at < phase.end; ++at) {
      VectorOp op = program.instructions[at].op;
      if (op != VectorOp::Input && op != VectorOp::Store && !isReduction(op) && !plan.operations[at].perRow)
        plan.operations[at].place = placeOf(at, phase.end);
    }
}

/// Reads and stores of the parts of complex numbers, as far as strides tell: the first one waits for the
/// second, which it does not pass anything that needs or overwrites its slot.
void VectorPlanner::findPairs() {
  for (const VectorPhase &phase : program.phases)
    for (uint32_t at = phase.rowEnd; at + 1 < phase.end; ++at) {
      Operation &first = plan.operations[at], &next = plan.operations[at + 1];
      if (areParts(first, next, Action::Read, plan.inputs) && first.result != next.result) {
        join(first, next, first.result, Action::ReadLater, Action::ReadPairs);
        continue;
      }
      for (uint32_t i = at + 1; i < phase.end && first.action == Action::Write; ++i) {
        Operation &later = plan.operations[i];
        if (areParts(first, later, Action::Write, plan.outputs))
          join(first, later, first.operands[0], Action::WriteLater, Action::WritePairs);
        else if (program.instructions[i].op != VectorOp::Store && later.result == first.operands[0])
          break;
      }
    }
}

bool VectorPlanner::areParts(const Operation &first, const Operation &second, Action action,
                             const std::vector<VectorPlan::Operand> &operands) {
  auto isPart = [&](const Operation &operation) {
    return operation.action == action && !operation.primitive && !operation.perRow && operation.size >= 4 &&
           operands[operation.index].columnStride == 2 * operation.size;
  };
  return isPart(first) && isPart(second) && first.size == second.size &&
         operands[first.index].strides == operands[second.index].strides;
}

void VectorPlanner::join(Operation &first, Operation &second, uint16_t slot, Action later, Action pairs) {
  second.operands[1] = second.operands[0];
  second.operands[0] = slot;
  second.place = first.index;
  second.action = pairs;
  first.action = later;
}

/// The output that an instruction of a tile may compute its result in, or -1: nothing is read from memory
/// after it, and the value is still in its slot when it is stored.
int VectorPlanner::placeOf(uint32_t at, uint32_t end) const {
  uint16_t slot = program.instructions[at].result;
  for (uint32_t i = at + 1; i < end; ++i) {
    const VectorInstruction &later = program.instructions[i];
    if (later.op == VectorOp::Input)
      return -1;
    if (later.op == VectorOp::Store) {
      if (later.operands[0] == slot && !isHalf(later) && !isKept(later))
        return later.index;
      continue;
    }
    if (!isReduction(later.op) && later.result == slot)
      return -1;
  }
  return -1;
}

} // namespace torchere::cpu
