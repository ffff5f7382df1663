// VectorPlan: a vector program made ready for operands of certain shapes and strides.
#pragma once

#include "cpu/kernels/elements.h"
#include "cpu/kernels/thread_pool.h"
#include "cpu/vector/isa_primitives.h"
#include "cpu/vector/program.h"

#include <array>
#include <cstdint>
#include <vector>

namespace torchere::cpu {

constexpr int kVectorRank = 8;
/// In elements; 0 broadcasts.
using VectorStrides = std::array<int64_t, kVectorRank>;

/// Of a tile, whose values with those of all slots stay in the caches; by the bytes of the largest element.
inline int64_t tileElements(int slots, int64_t size) {
  return size <= 4 && slots <= 6 ? 2048 : 1024;
}

/// How an output that whoever runs the tiles takes is reduced.
enum class TileReduction : uint8_t {
  Other,
  Sum,       ///< of f32: each row of a tile, or all of it
  SumAcross, ///< of f32: each column of a tile
};

/// The dimensions that a program runs over, and how its operands walk them. Rows are along the last.
struct VectorWalk {
  int rank = 0;
  std::array<int64_t, kVectorRank> dims = {};
  /// As many as the program has, but that whoever runs the tiles may take the last outputs from their slots.
  std::vector<VectorStrides> inputs, outputs;
  /// Whether the tiles' dimensions are to be the last two as they are.
  bool isArranged = false;
  std::vector<TileReduction> reductions = {}; ///< of these last outputs
  bool keepsRows = false;                     ///< whether they are joined row by row
};

/// All that follows from the program and the walk alone, so that a run only has to be told where the operands
/// lie. Results do not depend on the number of threads.
class VectorPlan {
public:
  VectorPlan() = default;
  VectorPlan(const VectorProgram &program, Isa isa, const VectorWalk &walk);

  /// The addresses of the operands' first elements. An output may be an input's memory where both have the
  /// same strides and type.
  void run(const Context &context, const void *const *inputs, void *const *outputs) const;

private:
  class Runner;
  friend class VectorPlanner;
  friend class PassJoiner;
  friend class JoinedPlan;
  friend class JoinedPlanner;

  enum class Action : uint8_t {
    Read,
    ReadLater, ///< with the other part of complex numbers, as WriteLater
    ReadPairs,
    Write,
    WriteLater,
    WritePairs,
    Keep,
    Join,
    Fill,
    CountUp,
    Move,
    Reduce,
    ReduceRows, ///< of whole rows: each
    SumRows,    ///< the same, of what is computed on the way
    Broadcast,
    Apply
  };
  /// An instruction with what is looked up for it. Slots are numbers of tiles.
  struct Operation {
    Action action = Action::Apply;
    uint8_t size = 0;       ///< bytes of an element: in memory for Read and Write, of the operand for Move
    uint8_t resultSize = 0; ///< bytes of an element in the result's slot
    uint8_t operandCount = 0;
    bool perRow = false;
    bool isSelect = false;
    uint16_t result = 0;
    uint16_t operands[4] = {0, 0, 0, 0};
    uint16_t index = 0; ///< of the operand in memory, the constant, or the dimension counted from the last
    /// The output that the result may be computed in, where a tile is contiguous there. Of pairs where the
    /// first part lies; the second one's is the index. operands[0] is the first part's slot.
    int32_t place = -1;
    Primitive primitive = nullptr;  ///< for Read and Write the conversion, if there is one
    RowsPrimitive onRows = nullptr; ///< of operands that are no tiles; of Join and SumRows
    RowFold fold = nullptr;         ///< of ReduceRows
  };
  struct Phase {
    uint32_t rowEnd = 0, end = 0;
  };
  struct Operand {
    VectorStrides strides = {};     ///< in bytes
    int64_t size = 8;               ///< bytes of an element
    int64_t rowStride = 0;          ///< bytes
    int64_t columnStride = 0;       ///< bytes
    int64_t lowest = 0, beyond = 0; ///< the bytes that it covers, from its first element on
  };

  int64_t rowTiles() const { return (rows + tileRows - 1) / tileRows; }
  int64_t columnTiles() const { return byRows ? 1 : (columns + tileColumns - 1) / tileColumns; }

  std::vector<Operation> operations;
  uint32_t setupEnd = 0;
  std::vector<Phase> phases;
  std::vector<uint64_t> constants;
  Primitive broadcasts[4] = {};
  SplitParts splitParts[2] = {};
  JoinParts joinParts[2] = {};
  int slots = 0;
  int64_t outputCount = 0; ///< of the program
  int rank = 0;
  std::array<int64_t, kVectorRank> dims = {};
  std::vector<Operand> inputs, outputs;
  bool keepsRows = false;
  std::vector<bool> joined; ///< by output, of those that whoever runs the tiles takes: has a Join
  bool byRows = false;      ///< rows mean something: reductions, elements of rows, indices
  bool hasWholeRows = false;
  int64_t tile = 0; ///< elements of a slot
  int64_t slotBytes = 0;
  int64_t rowPlace = 0;          ///< bytes into a slot, where whole rows have an element each
  int64_t rows = 1, columns = 1; ///< of the tiles' dimensions
  int64_t tileRows = 1, tileColumns = 1;
  int64_t tiles = 0; ///< 0: there is nothing to do
  int64_t parts = 1;
};

} // namespace torchere::cpu
