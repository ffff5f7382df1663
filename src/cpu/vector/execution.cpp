// Runs planned vector programs, tile by tile.
#include "cpu/kernels/thread_pool.h"
#include "cpu/vector/tile_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace torchere::cpu {
namespace {

constexpr int kSlotScratch = 2;

using Window = TileWindow;

/// Every second one of `count` pairs, as the parts of complex numbers lie, in vectors; gives how many. What
/// follows the last one is not read.
template <class T> int64_t gatherPairs(const char *from, T *to, int64_t count) {
  typedef T Vector __attribute__((vector_size(16), aligned(1), may_alias));
  constexpr int64_t lanes = 16 / static_cast<int64_t>(sizeof(T));
  int64_t done = 0;
  for (; done + lanes < count; done += lanes, from += 32) {
    const auto *vectors = reinterpret_cast<const Vector *>(from);
    if constexpr (sizeof(T) == 4)
      *reinterpret_cast<Vector *>(to + done) = __builtin_shufflevector(vectors[0], vectors[1], 0, 2, 4, 6);
    else
      *reinterpret_cast<Vector *>(to + done) = __builtin_shufflevector(vectors[0], vectors[1], 0, 2);
  }
  return done;
}
template <class T> void gather(const Window &from, T *to, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; ++row, to += columns) {
    const char *p = from.data + row * from.rowStride;
    int64_t i = 0;
    if constexpr (sizeof(T) >= 4)
      if (from.columnStride == 2 * static_cast<int64_t>(sizeof(T)))
        i = gatherPairs(p, to, columns);
    for (p += i * from.columnStride; i < columns; ++i, p += from.columnStride)
      std::memcpy(to + i, p, sizeof(T));
  }
}
/// One row to all rows: each copy doubles what is there.
void repeatRow(const char *from, char *to, int64_t rows, int64_t bytes) {
  if (to != from)
    std::memcpy(to, from, static_cast<size_t>(bytes));
  for (int64_t done = 1; done < rows; done *= 2)
    std::memcpy(to + done * bytes, to, static_cast<size_t>(std::min(done, rows - done) * bytes));
}
/// Two operands: the slots of their tiles, and where they lie in memory. The second follows the first by an
/// element where their elements lie in turns.
struct TilePair {
  int firstSlot, secondSlot;
  Window first, second;
  bool isInTurns;
};
TilePair pairOf(int firstSlot, const Window &first, int secondSlot, const Window &second, int64_t size) {
  if (first.data - second.data == size)
    return {secondSlot, firstSlot, second, first, true};
  return {firstSlot, secondSlot, first, second, second.data - first.data == size};
}
template <class T> void scatter(const T *from, const Window &to, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; ++row) {
    char *p = to.data + row * to.rowStride;
    for (int64_t i = 0; i < columns; ++i, p += to.columnStride)
      std::memcpy(p, from++, sizeof(T));
  }
}

} // namespace

VectorPlan::Runner::Runner(const VectorPlan &plan, const void *const *inputs, void *const *outputs)
    : plan_(plan), inputs_(inputs), outputs_(outputs) {
  int64_t slots = plan.slots + 1; // the last is for conversions
  auto flags = static_cast<int64_t>(plan.inputs.size());
  auto outputCount = static_cast<size_t>(plan.outputCount);
  size_t values = (static_cast<size_t>(slots) + outputCount) * sizeof(TileValue);
  memory_ = static_cast<char *>(ThreadPool::scratch(static_cast<size_t>(slots * plan.slotBytes + flags) +
                                                        values + outputCount * sizeof(char *),
                                                    kSlotScratch));
  slots_ = reinterpret_cast<TileValue *>(memory_ + slots * plan.slotBytes);
  for (int64_t i = 0; i < slots; ++i)
    slots_[i] = {own(static_cast<int>(i))};
  kept_ = slots_ + slots;
  sums_ = reinterpret_cast<char **>(kept_ + outputCount);
  copied_ = reinterpret_cast<bool *>(sums_ + outputCount);
  findOverlaps();
}

void VectorPlan::Runner::findOverlaps() {
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    const Operand &in = plan_.inputs[i];
    auto input = reinterpret_cast<intptr_t>(inputs_[i]);
    copied_[i] = false;
    for (size_t o = 0; o < plan_.outputs.size(); ++o) {
      const Operand &out = plan_.outputs[o];
      auto output = reinterpret_cast<intptr_t>(outputs_[o]);
      copied_[i] |= input + in.lowest < output + out.beyond && output + out.lowest < input + in.beyond;
    }
  }
}

void VectorPlan::Runner::setUp() {
  rowCount_ = 1;
  columnCount_ = plan_.tile;
  runRange(0, plan_.setupEnd);
}

void VectorPlan::Runner::locate(int64_t index) {
  int64_t column = index % plan_.columnTiles(), rest = index / plan_.columnTiles();
  int64_t row = rest % plan_.rowTiles();
  rest /= plan_.rowTiles();
  int last = plan_.rank - 1;
  position_[last] = column * plan_.tileColumns;
  columnCount_ = std::min(plan_.tileColumns, plan_.columns - position_[last]);
  rowCount_ = 1;
  int outer = last - 1;
  if (!plan_.byRows && last > 0) {
    position_[outer] = row * plan_.tileRows;
    rowCount_ = std::min(plan_.tileRows, plan_.rows - position_[outer]);
    --outer;
  }
  for (; outer >= 0; --outer) {
    position_[outer] = rest % plan_.dims[outer];
    rest /= plan_.dims[outer];
  }
}

void VectorPlan::Runner::runTile(int64_t index) {
  locate(index);
  if (plan_.byRows)
    return runRow();
  const Phase &phase = plan_.phases.front();
  runRange(phase.rowEnd, phase.end);
}

void VectorPlan::Runner::runAt(const std::array<int64_t, kVectorRank> &position, int64_t rows,
                               int64_t columns) {
  position_ = position;
  rowCount_ = rows;
  columnCount_ = columns;
  const Phase &phase = plan_.phases.front();
  runRange(phase.rowEnd, phase.end);
}

void VectorPlan::Runner::runRow() {
  uint32_t begin = plan_.setupEnd;
  int last = plan_.rank - 1;
  for (const Phase &phase : plan_.phases) {
    position_[last] = 0;
    columnCount_ = plan_.tileColumns;
    runRange(begin, phase.rowEnd);
    for (int64_t column = 0; column < plan_.columns && phase.rowEnd < phase.end; column += plan_.tile) {
      position_[last] = column;
      columnCount_ = std::min(plan_.tile, plan_.columns - column);
      runRange(phase.rowEnd, phase.end);
    }
    begin = phase.end;
  }
}

void VectorPlan::Runner::runRange(uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; ++i)
    run(plan_.operations[i]);
}

void VectorPlan::Runner::run(const Operation &operation) {
  static_assert(std::endian::native == std::endian::little, "constants are kept at the low end");
  int64_t all = rowCount_ * columnCount_, n = operation.perRow ? rowCount_ : all;
  switch (operation.action) {
  case Action::Read:
    return read(operation);
  case Action::Write:
    return write(operation);
  case Action::ReadLater:
  case Action::WriteLater:
    return;
  case Action::ReadPairs:
    return readPairs(operation);
  case Action::WritePairs:
    return writePairs(operation);
  case Action::Keep:
    return keep(operation);
  case Action::Join:
    return join(operation);
  case Action::Reduce:
    return operation.primitive(own(operation.result), dense(operation.operands[0]), nullptr, nullptr, all);
  case Action::ReduceRows:
    return operation.fold(rowsOf(operation), &plan_.constants[operation.index], dense(operation.operands[0]),
                          rowCount_, columnCount_);
  case Action::SumRows:
    return sumRows(operation);
  case Action::Fill: {
    const auto *constant = reinterpret_cast<const char *>(&plan_.constants[operation.index]);
    if (operation.perRow)
      return operation.primitive(resultOf(operation), constant, nullptr, nullptr, 1);
    slots_[operation.result] = {constant, 0, TileValue::Kind::Lasting, operation.size};
    return;
  }
  case Action::CountUp:
    return countUp(operation, resultOf(operation));
  case Action::Broadcast: // the operand's slot may be taken by another value from here on
    std::memcpy(own(operation.result), slots_[operation.operands[0]].data, operation.size);
    slots_[operation.result] = {own(operation.result), 0, TileValue::Kind::Lasting, operation.size};
    return;
  case Action::Move: {
    const char *from = operation.perRow ? elements(operation.operands[0]) : dense(operation.operands[0]);
    std::memmove(resultOf(operation), from, static_cast<size_t>(n * operation.size));
    return;
  }
  case Action::Apply:
    return apply(operation);
  }
}

void VectorPlan::Runner::apply(const Operation &operation) {
  const char *from[4] = {};
  if (operation.perRow) {
    for (int i = 0; i < operation.operandCount; ++i)
      from[i] = elements(operation.operands[i]);
    return operation.primitive(resultOf(operation), from[0], from[1], from[2], rowCount_);
  }
  bool areTiles = true;
  for (int i = 0; i < operation.operandCount; ++i) {
    const TileValue &value = slots_[operation.operands[i]];
    from[i] = value.data;
    areTiles &= value.kind == TileValue::Kind::Dense;
  }
  if (operation.onRows && !(areTiles && operation.primitive)) {
    TileRowsJob job = jobOf(operation);
    job.result = resultOf(operation);
    return operation.onRows(job);
  }
  for (int i = 0; !areTiles && i < operation.operandCount; ++i)
    from[i] = dense(operation.operands[i]);
  operation.primitive(resultOf(operation), from[0], from[1], from[2], rowCount_ * columnCount_);
}

/// All of the tile is one row where no operand's rows differ from it.
TileRowsJob VectorPlan::Runner::jobOf(const Operation &operation) {
  using enum TileValue::Kind;
  TileRowsJob job;
  bool isFlat = true, isSelect = operation.isSelect;
  bool isChoice = operation.operandCount == 4; // by what it compares
  bool isClamp = !isSelect && operation.operandCount == 3 && operation.primitive;
  for (int i = 0; i < operation.operandCount; ++i) {
    int slot = operation.operands[i];
    const TileValue &value = slots_[slot];
    bool needsTile = isSelect   ? i == 0
                     : isChoice ? i == 0 && value.kind != Rows
                                : i == 1 && (job.isOne[0] || isClamp);
    bool isTile = value.kind == Dense || needsTile;
    job.operands[i] = isTile ? dense(slot) : value.data;
    job.isOne[i] = !isTile && value.kind != Rows;
    job.strides[i] = isTile ? columnCount_ * (isSelect && i == 0 ? 1 : operation.size) : value.rowStride;
    isFlat &= isTile || (job.isOne[i] && value.rowStride == 0);
  }
  job.rows = isFlat ? 1 : rowCount_;
  job.columns = isFlat ? rowCount_ * columnCount_ : columnCount_;
  return job;
}

/// The same with a result for each row.
TileRowsJob VectorPlan::Runner::jobOfEachRow(const Operation &operation) {
  TileRowsJob job = jobOf(operation);
  if (job.rows == rowCount_)
    return job;
  job.rows = rowCount_;
  job.columns = columnCount_;
  for (int i = 0; i < operation.operandCount; ++i)
    job.strides[i] = job.isOne[i] ? job.strides[i] : columnCount_ * operation.size;
  return job;
}

void VectorPlan::Runner::join(const Operation &operation) {
  TileRowsJob job = plan_.keepsRows ? jobOfEachRow(operation) : jobOf(operation);
  job.result = sums_[operation.index];
  if (plan_.keepsRows || job.rows == 1)
    return operation.onRows(job);
  TileRowsJob row = job; // all to one result
  row.rows = 1;
  for (int64_t k = 0; k < job.rows; ++k) {
    for (int i = 0; i < operation.operandCount; ++i)
      row.operands[i] = static_cast<const char *>(job.operands[i]) + k * job.strides[i];
    operation.onRows(row);
  }
}

/// What joins a row's products or squares takes one row after the other.
void VectorPlan::Runner::sumRows(const Operation &operation) {
  TileRowsJob job = jobOfEachRow(operation);
  job.result = rowsOf(operation);
  std::memset(job.result, 0, static_cast<size_t>(rowCount_ * operation.size));
  operation.onRows(job);
}

void VectorPlan::Runner::keep(const Operation &operation) {
  int slot = operation.operands[0];
  TileValue &kept = kept_[operation.index];
  kept = slots_[slot];
  if (kept.kind == TileValue::Kind::Rows && plan_.keepsRows)
    return;
  kept = {dense(slot), columnCount_ * operation.size};
}

/// The slot's value as a tile.
const char *VectorPlan::Runner::dense(int slot) {
  TileValue &value = slots_[slot];
  if (value.kind == TileValue::Kind::Dense)
    return value.data;
  char *to = own(slot);
  if (std::exchange(value.isSpread, true))
    return to;
  Primitive repeat = plan_.broadcasts[log2Of(value.size)];
  if (value.kind == TileValue::Kind::Lasting)
    repeat(to, value.data, nullptr, nullptr, plan_.tile);
  else
    pack({const_cast<char *>(value.data), value.rowStride,
          value.kind == TileValue::Kind::Rows ? int64_t(value.size) : 0},
         value.size, to, rowCount_, columnCount_);
  return to;
}

/// What a slot holds of each row of the tile, one after the other.
const char *VectorPlan::Runner::elements(int slot) {
  bool isRepeated = slots_[slot].kind == TileValue::Kind::Lasting && rowCount_ > 1;
  return isRepeated ? dense(slot) : slots_[slot].data;
}

/// Where the result of whole rows lies from now on, an element of each.
char *VectorPlan::Runner::rowsOf(const Operation &operation) {
  char *result = own(operation.result) + plan_.rowPlace;
  slots_[operation.result] = {result, operation.resultSize, TileValue::Kind::One, operation.resultSize};
  return result;
}

/// Where its result lies from now on: in its slot's own memory, or its output's if the tile is contiguous
/// there.
char *VectorPlan::Runner::resultOf(const Operation &operation) {
  if (operation.perRow && plan_.hasWholeRows)
    return rowsOf(operation);
  char *result = own(operation.result);
  if (operation.place >= 0) {
    const Operand &output = plan_.outputs[operation.place];
    Window to = window(outputs_[operation.place], output);
    if (contiguous(to, output.size))
      result = to.data;
  }
  slots_[operation.result] = {result};
  return result;
}

Window VectorPlan::Runner::window(const void *data, const Operand &operand) const {
  auto *first = static_cast<char *>(const_cast<void *>(data));
  for (int i = 0; i < plan_.rank; ++i)
    first += position_[i] * operand.strides[i];
  return {first, operand.rowStride, operand.columnStride};
}

void VectorPlan::Runner::read(const Operation &operation) {
  const Operand &input = plan_.inputs[operation.index];
  int64_t size = operation.size, rows = rowCount_, columns = columnCount_;
  Window from = window(inputs_[operation.index], input);
  if (operation.perRow) {
    // Rows are found by the other dimensions alone.
    from.data -= position_[plan_.rank - 1] * from.columnStride;
    columns = 1;
  }
  if (operation.perRow && plan_.hasWholeRows)
    return readRows(operation, from);
  bool whole = operation.perRow || contiguous(from, size);
  char *to = own(operation.result);
  if (whole && !operation.primitive && !copied_[operation.index]) {
    slots_[operation.result] = {from.data};
    return;
  }
  if (!operation.perRow && !operation.primitive && !copied_[operation.index] && readInPlace(operation, from))
    return;
  slots_[operation.result] = {to};
  char *packed = operation.primitive ? own(plan_.slots) : to;
  if (whole && operation.primitive)
    packed = from.data;
  else
    pack(from, size, packed, rows, columns);
  if (operation.primitive)
    operation.primitive(to, packed, nullptr, nullptr, rows * columns);
}

/// An element of each row, which follow each other in the slot.
void VectorPlan::Runner::readRows(const Operation &operation, const TileWindow &from) {
  char *to = rowsOf(operation), *packed = operation.primitive ? own(plan_.slots) : to;
  pack({from.data, from.rowStride, operation.size}, operation.size, packed, rowCount_, 1);
  if (operation.primitive)
    operation.primitive(to, packed, nullptr, nullptr, rowCount_);
}

/// Rows that are worth a loop of their own, and single elements, are read where they lie.
bool VectorPlan::Runner::readInPlace(const Operation &operation, const Window &from) {
  using enum TileValue::Kind;
  bool isScalar = from.columnStride == 0 && (from.rowStride == 0 || rowCount_ == 1);
  if (!isScalar && columnCount_ < kShortestRow)
    return false;
  if (from.columnStride != 0 && from.columnStride != operation.size)
    return false;
  slots_[operation.result] = {from.data, isScalar ? 0 : from.rowStride, from.columnStride == 0 ? One : Rows,
                              operation.size};
  return true;
}

void VectorPlan::Runner::pack(const Window &from, int64_t size, char *to, int64_t rows,
                              int64_t columns) const {
  if (from.columnStride == size && from.rowStride == 0) {
    repeatRow(from.data, to, rows, columns * size);
  } else if (from.columnStride == size) {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(to + row * columns * size, from.data + row * from.rowStride, columns * size);
  } else if (from.columnStride == 0) {
    for (int64_t row = 0; row < rows; ++row)
      plan_.broadcasts[log2Of(size)](to + row * columns * size, from.data + row * from.rowStride, nullptr,
                                     nullptr, columns);
  } else if (size == 1) {
    gather(from, reinterpret_cast<uint8_t *>(to), rows, columns);
  } else if (size == 2) {
    gather(from, reinterpret_cast<uint16_t *>(to), rows, columns);
  } else if (size == 4) {
    gather(from, reinterpret_cast<uint32_t *>(to), rows, columns);
  } else {
    gather(from, reinterpret_cast<uint64_t *>(to), rows, columns);
  }
}

void VectorPlan::Runner::write(const Operation &operation) {
  int64_t size = operation.size, rows = rowCount_, columns = columnCount_;
  const char *from = operation.perRow ? elements(operation.operands[0]) : dense(operation.operands[0]);
  Window to = window(outputs_[operation.index], plan_.outputs[operation.index]);
  if (operation.perRow) {
    to.data -= position_[plan_.rank - 1] * to.columnStride;
    to.columnStride = size; // there is one
    columns = 1;
  }
  if (operation.primitive) {
    bool whole = operation.perRow ? rows == 1 || to.rowStride == size : contiguous(to, size);
    char *packed = whole ? to.data : own(plan_.slots);
    operation.primitive(packed, from, nullptr, nullptr, rows * columns);
    from = packed;
  }
  if (from != to.data)
    unpack(from, size, to, rows, columns);
}

void VectorPlan::Runner::unpack(const char *from, int64_t size, const Window &to, int64_t rows,
                                int64_t columns) const {
  if (to.columnStride == size) {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(to.data + row * to.rowStride, from + row * columns * size, columns * size);
  } else if (size == 1) {
    scatter(reinterpret_cast<const uint8_t *>(from), to, rows, columns);
  } else if (size == 2) {
    scatter(reinterpret_cast<const uint16_t *>(from), to, rows, columns);
  } else if (size == 4) {
    scatter(reinterpret_cast<const uint32_t *>(from), to, rows, columns);
  } else {
    scatter(reinterpret_cast<const uint64_t *>(from), to, rows, columns);
  }
}

/// Two outputs together where their elements lie in turns in memory.
void VectorPlan::Runner::writePairs(const Operation &operation) {
  int64_t size = operation.size, rows = rowCount_, columns = columnCount_;
  TilePair pair =
      pairOf(operation.operands[0], window(outputs_[operation.place], plan_.outputs[operation.place]),
             operation.operands[1], window(outputs_[operation.index], plan_.outputs[operation.index]), size);
  const char *first = dense(pair.firstSlot), *second = dense(pair.secondSlot);
  if (!pair.isInTurns) {
    unpack(first, size, pair.first, rows, columns);
    return unpack(second, size, pair.second, rows, columns);
  }
  JoinParts joined = plan_.joinParts[size == 8];
  if (pair.first.rowStride == 2 * size * columns)
    return joined(first, second, pair.first.data, rows * columns);
  for (int64_t row = 0; row < rows; ++row, first += columns * size, second += columns * size)
    joined(first, second, pair.first.data + row * pair.first.rowStride, columns);
}

/// Likewise two inputs.
void VectorPlan::Runner::readPairs(const Operation &operation) {
  int64_t size = operation.size, rows = rowCount_, columns = columnCount_;
  TilePair pair =
      pairOf(operation.operands[0], window(inputs_[operation.place], plan_.inputs[operation.place]),
             operation.result, window(inputs_[operation.index], plan_.inputs[operation.index]), size);
  char *first = own(pair.firstSlot), *second = own(pair.secondSlot);
  slots_[pair.firstSlot] = {first};
  slots_[pair.secondSlot] = {second};
  if (!pair.isInTurns) {
    pack(pair.first, size, first, rows, columns);
    return pack(pair.second, size, second, rows, columns);
  }
  SplitParts split = plan_.splitParts[size == 8];
  if (pair.first.rowStride == 2 * size * columns)
    return split(pair.first.data, first, second, rows * columns);
  if (pair.first.rowStride == 0) {
    split(pair.first.data, first, second, columns);
    repeatRow(first, first, rows, columns * size);
    return repeatRow(second, second, rows, columns * size);
  }
  for (int64_t row = 0; row < rows; ++row)
    split(pair.first.data + row * pair.first.rowStride, first + row * columns * size,
          second + row * columns * size, columns);
}

void VectorPlan::Runner::countUp(const Operation &operation, char *result) {
  int dimension = plan_.rank - 1 - static_cast<int>(operation.index);
  int64_t first = dimension >= 0 ? position_[dimension] : 0;
  auto *indices = reinterpret_cast<int64_t *>(own(plan_.slots));
  int64_t n = operation.perRow ? 1 : columnCount_, chunk = plan_.slotBytes / 8 / 64 * 64;
  for (int64_t begin = 0; begin < n; begin += chunk) {
    int64_t length = std::min(chunk, n - begin);
    for (int64_t i = 0; i < length; ++i)
      indices[i] = first + begin + i;
    operation.primitive(result + begin * operation.size, indices, nullptr, nullptr, length);
  }
}

void VectorPlan::run(const Context &context, const void *const *from, void *const *to) const {
  if (tiles == 0)
    return;
  context.pool.parallelFor(parts, [&](int64_t part) {
    Runner runner(*this, from, to);
    runner.setUp();
    for (int64_t i = tiles * part / parts, end = tiles * (part + 1) / parts; i < end; ++i)
      runner.runTile(i);
  });
}

} // namespace torchere::cpu
