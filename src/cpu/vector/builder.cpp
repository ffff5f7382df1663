// From values to a program: phases, slots, instructions.
#include "cpu/vector/op_rules.h"
#include "cpu/vector/program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace torchere::cpu {

using Value = VectorBuilder::Value;

Value VectorBuilder::add(const Node &node) {
  nodes_.push_back(node);
  return static_cast<Value>(nodes_.size()) - 1;
}

Value VectorBuilder::input(DType type) {
  if (primitiveType(type) < 0 && error_.empty())
    error_ = fmt::format("[Input] no such vectors: got {}, expected a real type", dtypeInfo(type).shortName);
  return add({VectorOp::Input, computeType(type), type, false, 0, {-1, -1, -1}, inputs_++});
}

Value VectorBuilder::rowInput(DType type) {
  Value value = input(type);
  nodes_[value].perRow = true;
  return value;
}

Value VectorBuilder::constantBits(DType type, uint64_t bits) {
  return add({VectorOp::Constant, computeType(type), type, false, 0, {-1, -1, -1}, bits});
}

Value VectorBuilder::constant(DType type, double value) {
  if (type == DType::F64)
    return constantBits(type, std::bit_cast<uint64_t>(value));
  if (primitiveType(type) == kFloat)
    return constantBits(type, std::bit_cast<uint32_t>(static_cast<float>(value)));
  if (type == DType::Bool)
    return constantBits(type, value != 0);
  return constantBits(type, value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                                      : static_cast<uint64_t>(value));
}

Value VectorBuilder::iota(DType type, int fromLast) {
  return add({VectorOp::Iota,
              computeType(type),
              type,
              fromLast > 0,
              0,
              {-1, -1, -1},
              static_cast<uint64_t>(fromLast)});
}

/// The bound and what it bounds from below, where `value` is the maximum of the two: of f32, and such that
/// Clamp gives the same zeros.
std::optional<std::pair<Value, Value>> VectorBuilder::boundedBelow(Value value, Value high) const {
  auto isNumber = [&](Value bound) {
    const Node &node = nodes_[bound];
    return node.op == VectorOp::Constant && node.type == DType::F32 &&
           !std::isnan(std::bit_cast<float>(static_cast<uint32_t>(node.bits)));
  };
  if (nodes_[value].op != VectorOp::Maximum || !isNumber(high) ||
      static_cast<uint32_t>(nodes_[high].bits) << 1 == 0)
    return std::nullopt;
  Value x = nodes_[value].operands[0], low = nodes_[value].operands[1];
  if (!isNumber(low))
    std::swap(x, low);
  constexpr uint64_t negativeZero = uint64_t(1) << 31;
  return isNumber(low) && nodes_[low].bits != negativeZero ? std::optional(std::pair(low, x)) : std::nullopt;
}

Value VectorBuilder::apply(VectorOp op, Value a, Value b, Value c) {
  Node node{op, DType::F32, DType::F32, true, 0, {a, b, c}, 0};
  int count = operandCount(op);
  bool constants = true;
  for (int i = 0; i < 3; ++i) {
    if ((node.operands[i] >= 0) != (i < count) || node.operands[i] >= static_cast<Value>(nodes_.size())) {
      if (error_.empty())
        error_ = fmt::format("[{}] wrong operands: expected {} earlier values", vectorOpName(op), count);
      return add(node);
    }
    if (i >= count)
      continue;
    const Node &operand = nodes_[node.operands[i]];
    bool constant = operand.op == VectorOp::Constant;
    constants &= constant;
    node.perRow &= operand.perRow || constant;
    node.phase = std::max(node.phase, operand.phase);
  }
  // Of constants alone: a vector like them.
  if (constants)
    node.perRow = false;
  DType type = nodes_[node.operands[op == VectorOp::Select ? 1 : 0]].type;
  for (int i = op == VectorOp::Select ? 1 : 0; i < count; ++i)
    if (nodes_[node.operands[i]].type != type && error_.empty())
      error_ = fmt::format("[{}] operands of different types: got {} and {}", vectorOpName(op),
                           dtypeInfo(type).shortName, dtypeInfo(nodes_[node.operands[i]].type).shortName);
  bool exists = op != VectorOp::Convert && op != VectorOp::Bitcast && op < VectorOp::Broadcast && count > 0 &&
                primitivesOf(Isa::Baseline).ops[static_cast<int>(op)][primitiveType(type)];
  if (!exists && error_.empty())
    error_ = fmt::format("[{}] no such op of this type: got {}", vectorOpName(op), dtypeInfo(type).shortName);
  if (op == VectorOp::Minimum && error_.empty()) // one pass in place of two
    for (auto [value, high] : {std::pair(a, b), std::pair(b, a)})
      if (auto bounded = boundedBelow(value, high))
        return apply(VectorOp::Clamp, bounded->first, bounded->second, high);
  node.type = givesBool(op) ? DType::Bool : type;
  if (isReduction(op)) {
    node.perRow = true;
    ++node.phase;
  }
  return add(node);
}

Value VectorBuilder::convert(Value a, DType type) {
  DType from = nodes_[a].type, to = computeType(type);
  if (type == DType::F16 || type == DType::BF16) {
    Value wide = from == DType::F32 ? a : convert(a, DType::F32);
    return apply(type == DType::F16 ? VectorOp::RoundToF16 : VectorOp::RoundToBF16, wide);
  }
  if (from == to)
    return a;
  Node node = nodes_[a];
  return add({VectorOp::Convert, to, to, node.perRow, node.phase, {a, -1, -1}, 0});
}

Value VectorBuilder::bitcast(Value a, DType type) {
  if (byteSize(nodes_[a].type) != byteSize(type) && error_.empty())
    error_ = fmt::format("[Bitcast] sizes differ: got {} and {}", dtypeInfo(nodes_[a].type).shortName,
                         dtypeInfo(type).shortName);
  Node node = nodes_[a];
  return add({VectorOp::Bitcast, type, type, node.perRow, node.phase, {a, -1, -1}, 0});
}

Value VectorBuilder::spread(Value a) {
  const Node node = nodes_[a];
  return node.perRow ? add({VectorOp::Bitcast, node.type, node.type, false, node.phase, {a, -1, -1}, 0}) : a;
}

void VectorBuilder::output(Value value, DType type) {
  if (nodes_[value].type != computeType(type) && error_.empty())
    error_ = fmt::format("[Store] of another type: got {}, expected {}",
                         dtypeInfo(nodes_[value].type).shortName, dtypeInfo(type).shortName);
  outputs_.emplace_back(value, type);
}

/// Vectors that several phases need are computed in each: only elements of rows are kept between them.
class VectorScheduler {
public:
  explicit VectorScheduler(const VectorBuilder &builder)
      : b_(builder), rowSlots_(builder.nodes_.size(), -1) {}
  VectorProgram schedule();
  VectorProgram scheduleWholeRows();

private:
  using Node = VectorBuilder::Node;
  /// The vectors of a phase, by value.
  struct Phase {
    std::vector<bool> needed;
    std::vector<size_t> lastUse;
    std::vector<int> slots;
    std::vector<int> taken; ///< slots that are free after it
    std::vector<size_t> reductions;
  };
  void begin();
  void setUp();
  std::vector<size_t> lastUses() const;
  Phase planPhase(int phase, bool last) const;
  void prepareRow(Phase &plan);
  void freeOperands(size_t user, Phase &plan);
  void emitRows(int phase, bool last);
  void emitVectors(int phase, bool last);
  void need(Value value, std::vector<bool> &needed) const;
  void emit(Value value, int slot, const std::vector<int> &slots);
  void store(size_t output, int slot);
  int takeSlot();
  bool isConstant(Value value) const { return b_.nodes_[value].op == VectorOp::Constant; }

  const VectorBuilder &b_;
  VectorProgram program_;
  std::vector<int> rowSlots_; ///< of constants, elements of rows and what reductions join to
  std::vector<int> free_;
};

int VectorScheduler::takeSlot() {
  if (free_.empty())
    return program_.slots++;
  int slot = free_.back();
  free_.pop_back();
  return slot;
}

void VectorScheduler::begin() {
  program_.inputs = b_.inputs_;
  program_.outputs = static_cast<uint16_t>(b_.outputs_.size());
  setUp();
}

VectorProgram VectorScheduler::schedule() {
  begin();
  int last = 0;
  for (const auto &[value, type] : b_.outputs_)
    last = std::max(last, b_.nodes_[value].phase);
  for (int phase = 0; phase <= last; ++phase) {
    emitRows(phase, phase == last);
    emitVectors(phase, phase == last);
  }
  return std::move(program_);
}

/// By value, the last one that reads it; outputs are read at the end, and what nothing reads at 0.
std::vector<size_t> VectorScheduler::lastUses() const {
  const auto &nodes = b_.nodes_;
  std::vector<size_t> uses(nodes.size());
  for (const auto &[value, type] : b_.outputs_)
    uses[value] = nodes.size();
  for (size_t i = nodes.size(); i-- > 0;)
    for (Value operand : nodes[i].operands)
      if (operand >= 0 && uses[i] != 0)
        uses[operand] = std::max(uses[operand], i);
  return uses;
}

VectorProgram VectorScheduler::scheduleWholeRows() {
  begin();
  program_.hasWholeRows = true;
  const auto &nodes = b_.nodes_;
  std::vector<size_t> uses = lastUses();
  std::vector<int> slots = rowSlots_;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (uses[i] == 0 || isConstant(static_cast<Value>(i)))
      continue;
    slots[i] = takeSlot();
    emit(static_cast<Value>(i), slots[i], slots);
    VectorInstruction &made = program_.instructions.back();
    made.perRow = nodes[i].perRow && !isReduction(nodes[i].op);
    if (isReduction(nodes[i].op)) {
      made.index = static_cast<uint16_t>(program_.constants.size());
      program_.constants.push_back(neutralBits(nodes[i].op, nodes[i].type));
    }
    for (Value operand : nodes[i].operands)
      if (operand >= 0 && uses[operand] == i && !isConstant(operand) &&
          std::ranges::count(free_, slots[operand]) == 0)
        free_.push_back(slots[operand]);
  }
  for (size_t i = 0; i < b_.outputs_.size(); ++i) {
    Value value = b_.outputs_[i].first;
    store(i, slots[value]);
    program_.instructions.back().perRow = nodes[value].perRow;
  }
  program_.phases.push_back({program_.setupEnd, static_cast<uint32_t>(program_.instructions.size())});
  return std::move(program_);
}

void VectorScheduler::setUp() {
  for (size_t i = 0; i < b_.nodes_.size(); ++i) {
    if (!isConstant(static_cast<Value>(i)))
      continue;
    rowSlots_[i] = program_.slots++;
    emit(static_cast<Value>(i), rowSlots_[i], {});
    program_.constants.push_back(b_.nodes_[i].bits);
  }
  program_.setupEnd = static_cast<uint32_t>(program_.instructions.size());
}

void VectorScheduler::emitRows(int phase, bool last) {
  for (size_t i = 0; i < b_.nodes_.size(); ++i) {
    const Node &node = b_.nodes_[i];
    if (!node.perRow || node.phase != phase || isReduction(node.op))
      continue;
    rowSlots_[i] = program_.slots++;
    emit(static_cast<Value>(i), rowSlots_[i], rowSlots_);
    program_.instructions.back().perRow = true;
  }
  if (last)
    for (size_t i = 0; i < b_.outputs_.size(); ++i)
      if (Value value = b_.outputs_[i].first; b_.nodes_[value].perRow) {
        store(i, rowSlots_[value]);
        program_.instructions.back().perRow = true;
      }
}

/// Marks the vectors that a vector is made of, and the elements of rows among its operands.
void VectorScheduler::need(Value value, std::vector<bool> &needed) const {
  if (value < 0 || needed[value])
    return;
  needed[value] = true;
  if (!b_.nodes_[value].perRow)
    for (Value operand : b_.nodes_[value].operands)
      need(operand, needed);
}

/// What a phase computes: the reductions that end it, or the outputs, with all that they are made of.
VectorScheduler::Phase VectorScheduler::planPhase(int phase, bool last) const {
  const auto &nodes = b_.nodes_;
  Phase plan{std::vector<bool>(nodes.size()),
             std::vector<size_t>(nodes.size()),
             std::vector<int>(nodes.size(), -1),
             {},
             {}};
  if (last) {
    for (const auto &[value, type] : b_.outputs_)
      if (!nodes[value].perRow)
        need(value, plan.needed);
  } else {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (isReduction(nodes[i].op) && nodes[i].phase == phase + 1) {
        need(nodes[i].operands[0], plan.needed);
        plan.reductions.push_back(i);
      }
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (plan.needed[i] && !nodes[i].perRow)
      for (Value operand : nodes[i].operands)
        if (operand >= 0)
          plan.lastUse[operand] = i;
  // Outputs and reductions come after all.
  for (size_t i : plan.reductions)
    plan.lastUse[nodes[i].operands[0]] = nodes.size();
  if (last)
    for (const auto &[value, type] : b_.outputs_)
      plan.lastUse[value] = nodes.size();
  return plan;
}

/// Elements of rows as tiles, and what reductions begin with.
void VectorScheduler::prepareRow(Phase &plan) {
  const auto &nodes = b_.nodes_;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (isConstant(static_cast<Value>(i)))
      plan.slots[i] = rowSlots_[i];
    if (!plan.needed[i] || !nodes[i].perRow)
      continue;
    plan.slots[i] = takeSlot();
    plan.taken.push_back(plan.slots[i]);
    VectorInstruction spread{VectorOp::Broadcast, nodes[i].type, nodes[i].type, true};
    spread.result = static_cast<uint16_t>(plan.slots[i]);
    spread.operands[0] = static_cast<uint16_t>(rowSlots_[i]);
    program_.instructions.push_back(spread);
  }
  for (size_t i : plan.reductions) {
    rowSlots_[i] = program_.slots++;
    VectorInstruction neutral{VectorOp::Constant, nodes[i].type, nodes[i].type, true};
    neutral.result = static_cast<uint16_t>(rowSlots_[i]);
    neutral.index = static_cast<uint16_t>(program_.constants.size());
    program_.constants.push_back(neutralBits(nodes[i].op, nodes[i].type));
    program_.instructions.push_back(neutral);
  }
}

/// Slots go back once a value was used for the last time.
void VectorScheduler::freeOperands(size_t user, Phase &plan) {
  for (Value operand : b_.nodes_[user].operands) {
    if (operand < 0 || plan.lastUse[operand] != user || isConstant(operand) || b_.nodes_[operand].perRow ||
        plan.slots[operand] < 0)
      continue;
    free_.push_back(plan.slots[operand]);
    plan.slots[operand] = -1;
  }
}

void VectorScheduler::emitVectors(int phase, bool last) {
  const auto &nodes = b_.nodes_;
  Phase plan = planPhase(phase, last);
  prepareRow(plan);
  uint32_t rowEnd = static_cast<uint32_t>(program_.instructions.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!plan.needed[i] || nodes[i].perRow || plan.slots[i] >= 0)
      continue;
    plan.slots[i] = takeSlot();
    emit(static_cast<Value>(i), plan.slots[i], plan.slots);
    freeOperands(i, plan);
  }
  for (size_t i : plan.reductions)
    emit(static_cast<Value>(i), rowSlots_[i], plan.slots);
  if (last)
    for (size_t i = 0; i < b_.outputs_.size(); ++i)
      if (Value value = b_.outputs_[i].first; !nodes[value].perRow)
        store(i, plan.slots[value]);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (plan.slots[i] >= 0 && !isConstant(static_cast<Value>(i)) && !nodes[i].perRow)
      plan.taken.push_back(plan.slots[i]);
  free_.insert(free_.end(), plan.taken.begin(), plan.taken.end());
  program_.phases.push_back({rowEnd, static_cast<uint32_t>(program_.instructions.size())});
}

void VectorScheduler::emit(Value value, int slot, const std::vector<int> &slots) {
  const Node &node = b_.nodes_[value];
  VectorInstruction instruction{node.op, node.type, node.type, false};
  instruction.result = static_cast<uint16_t>(slot);
  if (node.op == VectorOp::Input)
    instruction.to = node.memory;
  for (int i = 0; i < 3; ++i)
    if (node.operands[i] >= 0) {
      instruction.operands[i] = static_cast<uint16_t>(slots[node.operands[i]]);
      if (i == 0 || node.op == VectorOp::Select)
        instruction.type = b_.nodes_[node.operands[i]].type;
    }
  instruction.index =
      static_cast<uint16_t>(node.op == VectorOp::Constant ? program_.constants.size() : node.bits);
  program_.instructions.push_back(instruction);
}

void VectorScheduler::store(size_t output, int slot) {
  const auto &[value, type] = b_.outputs_[output];
  VectorInstruction instruction{VectorOp::Store, b_.nodes_[value].type, type, false};
  instruction.operands[0] = static_cast<uint16_t>(slot);
  instruction.index = static_cast<uint16_t>(output);
  program_.instructions.push_back(instruction);
}

Status VectorBuilder::checkValues() const {
  if (!error_.empty())
    return invalidArgument("{}", error_);
  if (nodes_.size() > 30000)
    return fail(ErrorCode::ResourceExhausted,
                "[vector program] too many values: got {}, expected 30000 or less", nodes_.size());
  return {};
}

Result<VectorProgram> VectorBuilder::finish() const {
  TORCHERE_TRY(checkValues());
  return VectorScheduler(*this).schedule();
}

Result<VectorProgram> VectorBuilder::finishWholeRows() const {
  TORCHERE_TRY(checkValues());
  return VectorScheduler(*this).scheduleWholeRows();
}

} // namespace torchere::cpu
