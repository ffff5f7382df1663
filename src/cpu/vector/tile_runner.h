// Runs a planned vector program on tiles, one after the other.
#pragma once

#include "cpu/vector/vector_plan.h"

namespace torchere::cpu {

/// Elements of a row that are worth a loop of their own.
constexpr int64_t kShortestRow = 16;

/// What a slot holds.
struct TileValue {
  enum class Kind : uint8_t {
    Dense,   ///< a tile
    Rows,    ///< the elements of rows that lie apart
    One,     ///< an element a row
    Lasting, ///< one element for all tiles to come
  };
  const char *data = nullptr;
  int64_t rowStride = 0; ///< bytes, of Rows and One
  Kind kind = Kind::Dense;
  uint8_t size = 0;      ///< of an element
  bool isSpread = false; ///< whether the slot's own memory has it as a tile
};

/// A tile in memory.
struct TileWindow {
  char *data;
  int64_t rowStride, columnStride; ///< bytes
};

class VectorPlan::Runner {
public:
  Runner(const VectorPlan &plan, const void *const *inputs, void *const *outputs);
  void setUp();
  void runTile(int64_t index);
  /// The tile from this place on, of a program of one phase without elements of rows.
  void runAt(const std::array<int64_t, kVectorRank> &position, int64_t rows, int64_t columns);
  /// Where the last tile of an output lies that the walk does not have: its rows, one after the other or,
  /// where the plan keeps rows, any.
  const TileValue &kept(size_t output) const { return kept_[output]; }
  /// Where an output that is joined() goes to.
  void joinTo(size_t output, char *sums) { sums_[output] = sums; }
  bool joins(size_t output) const { return plan_.joined[output]; }

private:
  void findOverlaps();
  void locate(int64_t index);
  void runRow();
  void runRange(uint32_t begin, uint32_t end);
  void run(const Operation &operation);
  void apply(const Operation &operation);
  TileRowsJob jobOf(const Operation &operation);
  TileRowsJob jobOfEachRow(const Operation &operation);
  void join(const Operation &operation);
  void sumRows(const Operation &operation);
  void keep(const Operation &operation);
  const char *dense(int slot);
  const char *elements(int slot);
  void read(const Operation &operation);
  void readRows(const Operation &operation, const TileWindow &from);
  bool readInPlace(const Operation &operation, const TileWindow &from);
  void readPairs(const Operation &operation);
  void write(const Operation &operation);
  void writePairs(const Operation &operation);
  void pack(const TileWindow &from, int64_t size, char *to, int64_t rows, int64_t columns) const;
  void unpack(const char *from, int64_t size, const TileWindow &to, int64_t rows, int64_t columns) const;
  void countUp(const Operation &operation, char *result);
  TileWindow window(const void *data, const Operand &operand) const;
  bool contiguous(const TileWindow &window, int64_t size) const {
    return window.columnStride == size && (rowCount_ == 1 || window.rowStride == columnCount_ * size);
  }
  char *own(int slot) { return memory_ + slot * plan_.slotBytes; }
  char *resultOf(const Operation &operation);
  char *rowsOf(const Operation &operation);

  const VectorPlan &plan_;
  const void *const *inputs_;
  void *const *outputs_;
  char *memory_;
  TileValue *slots_;
  TileValue *kept_; ///< by output
  char **sums_;     ///< by output
  bool *copied_;    ///< by input: whether it overlaps an output
  std::array<int64_t, kVectorRank> position_ = {};
  int64_t rowCount_ = 1, columnCount_ = 1;
};

} // namespace torchere::cpu
