// Implements LstmCell.
#include "cpu/vector/lstm_cell.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

/// The values that the program computes, slots apart.
class Values {
public:
  /// False if the program has what no cell has.
  bool add(const VectorProgram &program);
  std::optional<LstmCell> cell() const;

private:
  struct Value {
    VectorOp op = VectorOp::Input;
    uint16_t input = 0;
    int first = -1, second = -1; ///< operands
  };
  struct Gated {
    uint16_t gate; ///< the input that opens it
    int value;
  };

  bool isOp(int value, VectorOp op) const { return value >= 0 && values_[value].op == op; }
  std::optional<uint16_t> inputOf(int value) const;
  std::optional<uint16_t> tanhOfInput(int value) const;
  std::optional<Gated> gatedBy(const Value &product, bool isSecond) const;
  template <class Fn> bool eachGated(int value, Fn fn) const;
  bool addProducts(LstmCell &cell, int kept, int added) const;

  std::vector<Value> values_;
  std::vector<int> outputs_; ///< values
};

bool Values::add(const VectorProgram &program) {
  std::vector<int> slots(std::max<size_t>(program.slots, 1), -1);
  outputs_.assign(program.outputs, -1);
  for (const VectorInstruction &instruction : program.instructions) {
    using enum VectorOp;
    if (instruction.type != DType::F32 || instruction.perRow)
      return false;
    const int first = slots[instruction.operands[0]], second = slots[instruction.operands[1]];
    switch (instruction.op) {
    case Input:
      if (instruction.to != DType::F32)
        return false;
      values_.push_back({Input, instruction.index, -1, -1});
      break;
    case Logistic:
    case Tanh:
      values_.push_back({instruction.op, 0, first, -1});
      break;
    case Add:
    case Multiply:
      values_.push_back({instruction.op, 0, first, second});
      break;
    case Store:
      if (instruction.to != DType::F32 || outputs_[instruction.index] >= 0)
        return false;
      outputs_[instruction.index] = first;
      continue;
    default:
      return false;
    }
    slots[instruction.result] = static_cast<int>(values_.size()) - 1;
  }
  return true;
}

std::optional<uint16_t> Values::inputOf(int value) const {
  return isOp(value, VectorOp::Input) ? std::optional(values_[value].input) : std::nullopt;
}

std::optional<uint16_t> Values::tanhOfInput(int value) const {
  return isOp(value, VectorOp::Tanh) ? inputOf(values_[value].first) : std::nullopt;
}

/// logistic(input) times a value, which is the second operand or the first.
std::optional<Values::Gated> Values::gatedBy(const Value &product, bool isSecond) const {
  const int gate = isSecond ? product.first : product.second;
  if (!isOp(gate, VectorOp::Logistic))
    return std::nullopt;
  std::optional<uint16_t> input = inputOf(values_[gate].first);
  return input ? std::optional(Gated{*input, isSecond ? product.second : product.first}) : std::nullopt;
}

/// Whether the function holds of a way to read the value as a gated one.
template <class Fn> bool Values::eachGated(int value, Fn fn) const {
  if (!isOp(value, VectorOp::Multiply))
    return false;
  for (bool isSecond : {true, false})
    if (std::optional<Gated> gated = gatedBy(values_[value], isSecond); gated && fn(*gated))
      return true;
  return false;
}

bool Values::addProducts(LstmCell &cell, int kept, int added) const {
  return eachGated(kept,
                   [&](const Gated &gated) {
                     std::optional<uint16_t> input = inputOf(gated.value);
                     cell.forget = gated.gate;
                     cell.cell = input.value_or(0);
                     return input.has_value();
                   }) &&
         eachGated(added, [&](const Gated &gated) {
           std::optional<uint16_t> input = tanhOfInput(gated.value);
           cell.input = gated.gate;
           cell.candidate = input.value_or(0);
           return input.has_value();
         });
}

std::optional<LstmCell> Values::cell() const {
  for (uint16_t hidden = 0; hidden < outputs_.size() && outputs_.size() == 2; ++hidden) {
    LstmCell made;
    made.hidden = hidden;
    made.newCell = hidden == 0 ? 1 : 0;
    const int sum = outputs_[made.newCell];
    bool isHidden = eachGated(outputs_[hidden], [&](const Gated &gated) {
      made.output = gated.gate;
      return isOp(gated.value, VectorOp::Tanh) && values_[gated.value].first == sum;
    });
    if (!isHidden || !isOp(sum, VectorOp::Add))
      continue;
    const Value &value = values_[sum];
    if (addProducts(made, value.first, value.second) || addProducts(made, value.second, value.first))
      return made;
  }
  return std::nullopt;
}

} // namespace

std::optional<LstmCell> LstmCell::of(const VectorProgram &program) {
  Values values;
  return values.add(program) ? values.cell() : std::nullopt;
}

} // namespace torchere::cpu
