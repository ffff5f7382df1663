// Vector programs: chains of elementwise ops and reductions of rows, run over tiles that stay in the L1
// cache.
#pragma once

#include "base/dtype.h"
#include "base/error.h"
#include "cpu/vector/op.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace torchere::cpu {

/// One step. Slots are tiles in the L1 cache; `type` is the type that is computed in, which is F32 for F16
/// and BF16.
struct VectorInstruction {
  VectorOp op = VectorOp::Input;
  DType type = DType::F32; ///< of the operands; for Input, Constant and Iota of the result
  DType to = DType::F32;   ///< of the result, where it differs; for Input and Store the type in memory
  bool perRow = false;     ///< computed once a row
  uint16_t result = 0;
  uint16_t operands[3] = {0, 0, 0};
  uint16_t index = 0; ///< of the input, constant, dimension or output
};

/// What is run over a whole row before the next phase begins: a reduction ends one.
struct VectorPhase {
  uint32_t rowEnd = 0; ///< the instructions up to here once a row,
  uint32_t end = 0;    ///< then those up to here for each tile of it
};

/// Plain data, so that it can be stored.
struct VectorProgram {
  std::vector<VectorInstruction> instructions;
  uint32_t setupEnd = 0; ///< the instructions up to here once: constants
  std::vector<VectorPhase> phases;
  std::vector<uint64_t> constants; ///< their bits, at the low end
  uint16_t inputs = 0;
  uint16_t outputs = 0;
  uint16_t slots = 0;
  /// Rows lie in tiles as a whole, several in each. There is one phase, in which elements of rows are
  /// computed between the tile's instructions, and each value once.
  bool hasWholeRows = false;

  /// InvalidArgument for a program that reads or writes what is not there: an index out of bounds, an op that
  /// does not exist for its type, a slot that holds something else. Programs that were read from a file must
  /// be checked; what the builder makes is right.
  Status verify() const;
  /// The same for a LaneProgram on elements as large as those of these types.
  Status verifyLanes(std::span<const DType> inputTypes, std::span<const DType> outputTypes) const;

  static constexpr uint16_t mostSlots = 4096;
  /// Elements of a tile of whole rows, and of all slots together.
  static constexpr int64_t mostRowElements = 1 << 15, mostTileElements = 1 << 20;
  /// Of a tile of several whole rows.
  static constexpr int64_t wholeRowElements = 4096;
  /// The most that all slots together have, where whole rows are so long.
  int64_t rowElements(int64_t columns) const { return slots * std::max(columns, wholeRowElements); }
  /// Whether rows mean something: reductions of them, or elements of rows.
  bool hasRows() const {
    return hasWholeRows || phases.size() > 1 || (!phases.empty() && phases.front().rowEnd != setupEnd);
  }
};

/// Builds a program from values, each of which is made from earlier ones.
class VectorBuilder {
public:
  using Value = int32_t;

  /// The next operand, of `type` in memory.
  Value input(DType type);
  /// An operand that has one element a row: its stride in the last dimension is not read.
  Value rowInput(DType type);
  Value constant(DType type, double value);
  Value constantBits(DType type, uint64_t bits); ///< of the type as it is computed: f32 for F16
  /// The index along a dimension, counted from the last, which is 0.
  Value iota(DType type, int fromLast);
  Value apply(VectorOp op, Value a, Value b = -1, Value c = -1);
  Value convert(Value a, DType type);
  Value bitcast(Value a, DType type);
  /// A row's element as a value of all of the row's elements; any other value itself.
  Value spread(Value a);
  /// The next result, of `type` in memory. Of what is computed once a row, it is one element a row.
  void output(Value value, DType type);

  /// The type of a value as it is computed.
  DType typeOf(Value value) const { return nodes_[value].type; }
  /// An error names the first apply() with operands that the op does not take.
  Result<VectorProgram> finish() const;
  /// The same, for rows that lie in tiles as a whole.
  Result<VectorProgram> finishWholeRows() const;

private:
  struct Node {
    VectorOp op;
    DType type;   ///< of the result
    DType memory; ///< of an input
    bool perRow;
    int phase; ///< the first in which it can be computed
    Value operands[3];
    uint64_t bits; ///< the index of an input or dimension, or a constant's bits
  };
  friend class VectorScheduler;
  Value add(const Node &node);
  std::optional<std::pair<Value, Value>> boundedBelow(Value value, Value high) const;
  Status checkValues() const;

  std::vector<Node> nodes_;
  std::vector<std::pair<Value, DType>> outputs_;
  uint16_t inputs_ = 0;
  std::string error_;
};

} // namespace torchere::cpu
