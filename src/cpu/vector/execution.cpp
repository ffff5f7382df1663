// Runs vector programs: the call's dimensions become rows and tiles, the instructions calls of primitives.
#include "cpu/vector/op_rules.h"
#include "cpu/vector/program.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

namespace torchere::cpu {
namespace {

constexpr int kSlotScratch = 2;
constexpr int64_t kPartElements = 16384;
constexpr int64_t kMaxParts = 64;

struct Operand : VectorOperand {
  int64_t size = 8;    ///< bytes of an element
  bool copied = false; ///< an input that overlaps an output
};

/// A call's operands: without an allocation where they are few, as nearly always.
class Operands {
public:
  Operands(const VectorOperand *from, int count) : count_(count) {
    if (count > kFew)
      many_.reset(new Operand[static_cast<size_t>(count)]);
    first_ = many_ ? many_.get() : reinterpret_cast<Operand *>(few_);
    for (int i = 0; i < count; ++i)
      new (first_ + i) Operand{from[i]};
  }
  Operands(const Operands &) = delete;
  Operands &operator=(const Operands &) = delete;
  Operand &operator[](size_t i) { return first_[i]; }
  const Operand &operator[](size_t i) const { return first_[i]; }
  Operand *begin() { return first_; }
  Operand *end() { return first_ + count_; }

private:
  static constexpr int kFew = 8;
  int count_;
  alignas(Operand) std::byte few_[kFew * sizeof(Operand)]; ///< those beyond `count_` are never made
  std::unique_ptr<Operand[]> many_;
  Operand *first_;
};

/// The call with dimensions merged where all operands allow it, and what follows from the program alone.
struct Plan {
  const VectorProgram &program;
  const Primitives &primitives;
  int rank = 0;
  int64_t dims[kVectorRank] = {};
  Operands inputs, outputs;
  bool byRows = false; ///< rows mean something: reductions, elements of rows, indices
  int64_t tile = 0;    ///< elements of a slot
  int64_t slotBytes = 0;
  int64_t rows = 1, columns = 1; ///< of the tiles' dimensions
  int64_t tileRows = 1, tileColumns = 1;
  int64_t outer = 1;

  Plan(const VectorProgram &program, Isa isa, const VectorCall &call);
  int64_t rowTiles() const { return (rows + tileRows - 1) / tileRows; }
  int64_t columnTiles() const { return byRows ? 1 : (columns + tileColumns - 1) / tileColumns; }
  int64_t tiles() const { return outer * rowTiles() * columnTiles(); }
  int64_t parts() const;

private:
  void dropOnes(const VectorCall &call, bool keepLast);
  void merge(bool keepLast);
  void findOverlaps();
};

Plan::Plan(const VectorProgram &made, Isa isa, const VectorCall &call)
    : program(made), primitives(primitivesOf(isa)), inputs(call.inputs, made.inputs),
      outputs(call.outputs, made.outputs) {
  int64_t largest = 1;
  bool indices = false;
  for (const VectorInstruction &instruction : program.instructions) {
    largest = std::max<int64_t>({largest, static_cast<int64_t>(byteSize(computeType(instruction.type))),
                                 static_cast<int64_t>(byteSize(computeType(instruction.to)))});
    byRows |= instruction.perRow;
    indices |= instruction.op == VectorOp::Iota;
  }
  byRows |= indices;
  tile = largest <= 4 && program.slots <= 6 ? 1024 : 512;
  slotBytes = tile * largest + 192; // no multiple of 4 KiB
  if (indices) {
    rank = call.rank;
    std::copy(call.dims, call.dims + rank, dims);
  } else {
    dropOnes(call, byRows);
    merge(byRows);
  }
  if (rank == 0)
    dims[rank++] = 1;
  columns = dims[rank - 1];
  int64_t last = rank > 1 ? dims[rank - 2] : 1;
  rows = byRows ? 1 : last;
  for (int i = 0; i < rank - (byRows ? 1 : 2); ++i)
    outer *= dims[i];
  tileColumns = std::min(columns, tile);
  tileRows =
      byRows ? 1 : std::clamp<int64_t>(tile / std::max<int64_t>(columns, 1), 1, std::max<int64_t>(rows, 1));
  // Small calls do not fill whole tiles with constants.
  tile = std::clamp<int64_t>(byRows ? columns : tileRows * tileColumns, 1, tile);
  findOverlaps();
}

void Plan::dropOnes(const VectorCall &call, bool keepLast) {
  for (int i = 0; i < call.rank; ++i) {
    if (call.dims[i] == 1 && !(keepLast && i == call.rank - 1))
      continue;
    dims[rank] = call.dims[i];
    for (auto *operands : {&inputs, &outputs})
      for (Operand &operand : *operands)
        operand.strides[rank] = operand.strides[i];
    ++rank;
  }
}

void Plan::merge(bool keepLast) {
  for (int i = rank - 2 - keepLast; i >= 0; --i) {
    bool joined = true;
    for (auto *operands : {&inputs, &outputs})
      for (const Operand &operand : *operands)
        joined &= operand.strides[i] == operand.strides[i + 1] * dims[i + 1];
    if (!joined)
      continue;
    dims[i] *= dims[i + 1];
    for (int j = i + 1; j < rank - 1; ++j)
      dims[j] = dims[j + 1];
    for (auto *operands : {&inputs, &outputs})
      for (Operand &operand : *operands)
        for (int j = i; j < rank - 1; ++j)
          operand.strides[j] = operand.strides[j + 1];
    --rank;
  }
}

void Plan::findOverlaps() {
  for (const VectorInstruction &instruction : program.instructions) {
    if (instruction.op == VectorOp::Input)
      inputs[instruction.index].size = byteSize(instruction.to);
    if (instruction.op == VectorOp::Store)
      outputs[instruction.index].size = byteSize(instruction.to);
  }
  auto range = [&](const Operand &operand) {
    auto low = reinterpret_cast<intptr_t>(operand.data), high = low + static_cast<intptr_t>(operand.size);
    for (int i = 0; i < rank; ++i)
      (operand.strides[i] < 0 ? low : high) += (dims[i] - 1) * operand.strides[i] * operand.size;
    return std::pair(low, high);
  };
  for (Operand &input : inputs)
    for (const Operand &output : outputs) {
      auto in = range(input), out = range(output);
      input.copied |= in.first < out.second && out.first < in.second;
    }
}

int64_t Plan::parts() const {
  int64_t elements = outer * rows * columns;
  int64_t work = elements * static_cast<int64_t>(program.instructions.size()) / 2;
  return std::clamp<int64_t>(work / kPartElements, 1, std::min(kMaxParts, std::max<int64_t>(tiles(), 1)));
}

/// A tile in memory.
struct Window {
  char *data;
  int64_t rowStride, columnStride; ///< bytes
};

template <class T> void gather(const Window &from, T *to, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; ++row) {
    const char *p = from.data + row * from.rowStride;
    for (int64_t i = 0; i < columns; ++i, p += from.columnStride)
      std::memcpy(to++, p, sizeof(T));
  }
}
/// One row to all rows: each copy doubles what is there.
void repeatRow(const char *from, char *to, int64_t rows, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
  for (int64_t done = 1; done < rows; done *= 2)
    std::memcpy(to + done * bytes, to, static_cast<size_t>(std::min(done, rows - done) * bytes));
}
template <class T> void scatter(const T *from, const Window &to, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; ++row) {
    char *p = to.data + row * to.rowStride;
    for (int64_t i = 0; i < columns; ++i, p += to.columnStride)
      std::memcpy(p, from++, sizeof(T));
  }
}

class Runner {
public:
  explicit Runner(const Plan &plan);
  void setUp();
  void runTile(int64_t index);

private:
  void locate(int64_t index);
  void runRow();
  void runRange(uint32_t begin, uint32_t end);
  void run(uint32_t at);
  void read(const VectorInstruction &instruction);
  void write(const VectorInstruction &instruction);
  void fill(const VectorInstruction &instruction);
  void countUp(const VectorInstruction &instruction);
  Window window(const VectorOperand &operand, int64_t size) const;
  bool contiguous(const Window &window, int64_t size) const {
    return window.columnStride == size && (rowCount_ == 1 || window.rowStride == columnCount_ * size);
  }
  char *own(int slot) { return memory_ + slot * plan_.slotBytes; }
  bool storedInPlace(uint32_t at, char *&place);
  int64_t count() const { return rowCount_ * columnCount_; }

  const Plan &plan_;
  const Primitives &primitives_;
  char *memory_;
  char **slots_;
  int64_t position_[kVectorRank] = {};
  int64_t rowCount_ = 1, columnCount_ = 1;
  uint32_t tileEnd_ = 0; ///< of the instructions that are being run for a tile, 0 outside
};

Runner::Runner(const Plan &plan) : plan_(plan), primitives_(plan.primitives) {
  int64_t slots = plan.program.slots + 1; // the last is for conversions
  memory_ =
      static_cast<char *>(ThreadPool::scratch(slots * plan.slotBytes + slots * sizeof(char *), kSlotScratch));
  slots_ = reinterpret_cast<char **>(memory_ + slots * plan.slotBytes);
  for (int64_t i = 0; i < slots; ++i)
    slots_[i] = own(static_cast<int>(i));
}

void Runner::setUp() {
  rowCount_ = 1;
  columnCount_ = plan_.tile;
  runRange(0, plan_.program.setupEnd);
}

void Runner::locate(int64_t index) {
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

void Runner::runTile(int64_t index) {
  locate(index);
  if (plan_.byRows)
    return runRow();
  const VectorPhase &phase = plan_.program.phases.front();
  tileEnd_ = phase.end;
  runRange(phase.rowEnd, phase.end);
  tileEnd_ = 0;
}

void Runner::runRow() {
  uint32_t begin = plan_.program.setupEnd;
  int last = plan_.rank - 1;
  for (const VectorPhase &phase : plan_.program.phases) {
    position_[last] = 0;
    columnCount_ = plan_.tileColumns;
    runRange(begin, phase.rowEnd);
    tileEnd_ = phase.end;
    for (int64_t column = 0; column < plan_.columns && phase.rowEnd < phase.end; column += plan_.tile) {
      position_[last] = column;
      columnCount_ = std::min(plan_.tile, plan_.columns - column);
      runRange(phase.rowEnd, phase.end);
    }
    tileEnd_ = 0;
    begin = phase.end;
  }
}

void Runner::runRange(uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; ++i)
    run(i);
}

void Runner::run(uint32_t at) {
  const VectorInstruction &instruction = plan_.program.instructions[at];
  VectorOp op = instruction.op;
  int64_t n = instruction.perRow ? 1 : count();
  if (op == VectorOp::Store)
    return write(instruction);
  char *result = own(instruction.result);
  const char *a = slots_[instruction.operands[0]];
  if (isReduction(op)) {
    primitives_.ops[static_cast<int>(op)][primitiveType(instruction.type)](result, a, nullptr, nullptr, n);
    return;
  }
  if (op == VectorOp::Input)
    return read(instruction);
  storedInPlace(at, result);
  slots_[instruction.result] = result;
  int64_t size = byteSize(instruction.type);
  int type = primitiveType(instruction.type);
  if (op == VectorOp::Constant)
    fill(instruction);
  else if (op == VectorOp::Iota)
    countUp(instruction);
  else if (op == VectorOp::Broadcast)
    primitives_.broadcasts[std::countr_zero(static_cast<uint64_t>(size))](result, a, nullptr, nullptr,
                                                                          columnCount_);
  else if (op == VectorOp::Convert)
    primitives_.converts[type][primitiveType(instruction.to)](result, a, nullptr, nullptr, n);
  else if (op == VectorOp::Bitcast)
    std::memmove(result, a, n * size);
  else
    primitives_.ops[static_cast<int>(op)][type](result, a, slots_[instruction.operands[1]],
                                                slots_[instruction.operands[2]], n);
}

/// Whether a value can be computed into its output's memory: the tile is contiguous there, and nothing is
/// read from memory after it.
bool Runner::storedInPlace(uint32_t at, char *&place) {
  const auto &instructions = plan_.program.instructions;
  for (uint32_t i = at + 1; i < tileEnd_; ++i) {
    const VectorInstruction &later = instructions[i];
    if (later.op == VectorOp::Input)
      return false;
    if (later.op == VectorOp::Store) {
      if (later.operands[0] != instructions[at].result || later.type != later.to)
        continue;
      int64_t size = byteSize(later.to);
      Window to = window(plan_.outputs[later.index], size);
      if (!contiguous(to, size))
        return false;
      place = to.data;
      return true;
    }
    if (!isReduction(later.op) && later.result == instructions[at].result)
      return false;
  }
  return false;
}

Window Runner::window(const VectorOperand &operand, int64_t size) const {
  char *data = static_cast<char *>(operand.data);
  for (int i = 0; i < plan_.rank; ++i)
    data += position_[i] * operand.strides[i] * size;
  int64_t rowStride = plan_.rank > 1 ? operand.strides[plan_.rank - 2] * size : 0;
  return {data, rowStride, operand.strides[plan_.rank - 1] * size};
}

void Runner::read(const VectorInstruction &instruction) {
  int64_t size = byteSize(instruction.to);
  bool half = instruction.to != instruction.type;
  Window from = window(plan_.inputs[instruction.index], size);
  int64_t rows = rowCount_, columns = columnCount_;
  if (instruction.perRow) {
    // Rows are found by the other dimensions alone.
    from.data -= position_[plan_.rank - 1] * from.columnStride;
    rows = columns = 1;
  }
  bool whole = instruction.perRow || contiguous(from, size);
  char *to = own(instruction.result);
  if (whole && !half && !plan_.inputs[instruction.index].copied) {
    slots_[instruction.result] = from.data;
    return;
  }
  slots_[instruction.result] = to;
  char *packed = half ? own(plan_.program.slots) : to;
  if (whole && half) {
    packed = from.data;
  } else if (from.columnStride == size && from.rowStride == 0) {
    repeatRow(from.data, packed, rows, columns * size);
  } else if (from.columnStride == size) {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(packed + row * columns * size, from.data + row * from.rowStride, columns * size);
  } else if (from.columnStride == 0) {
    for (int64_t row = 0; row < rows; ++row)
      primitives_.broadcasts[std::countr_zero(static_cast<uint64_t>(size))](
          packed + row * columns * size, from.data + row * from.rowStride, nullptr, nullptr, columns);
  } else if (size == 1) {
    gather(from, reinterpret_cast<uint8_t *>(packed), rows, columns);
  } else if (size == 2) {
    gather(from, reinterpret_cast<uint16_t *>(packed), rows, columns);
  } else if (size == 4) {
    gather(from, reinterpret_cast<uint32_t *>(packed), rows, columns);
  } else {
    gather(from, reinterpret_cast<uint64_t *>(packed), rows, columns);
  }
  if (half)
    primitives_.halfToFloat[instruction.to == DType::BF16](to, packed, nullptr, nullptr, rows * columns);
}

void Runner::write(const VectorInstruction &instruction) {
  int64_t size = byteSize(instruction.to);
  bool half = instruction.to != instruction.type;
  const char *from = slots_[instruction.operands[0]];
  Window to = window(plan_.outputs[instruction.index], size);
  int64_t rows = rowCount_, columns = columnCount_;
  if (instruction.perRow) {
    to.data -= position_[plan_.rank - 1] * to.columnStride;
    rows = columns = 1;
  }
  bool whole = instruction.perRow || contiguous(to, size);
  if (half) {
    char *packed = whole ? to.data : own(plan_.program.slots);
    primitives_.floatToHalf[instruction.to == DType::BF16](packed, from, nullptr, nullptr, rows * columns);
    from = packed;
  }
  if (from == to.data)
    return;
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

void Runner::fill(const VectorInstruction &instruction) {
  static_assert(std::endian::native == std::endian::little, "constants are kept at the low end");
  uint64_t bits = plan_.program.constants[instruction.index];
  primitives_.broadcasts[std::countr_zero(static_cast<uint64_t>(byteSize(instruction.type)))](
      slots_[instruction.result], &bits, nullptr, nullptr, instruction.perRow ? 1 : plan_.tile);
}

void Runner::countUp(const VectorInstruction &instruction) {
  int dimension = plan_.rank - 1 - static_cast<int>(instruction.index);
  int64_t first = dimension >= 0 ? position_[dimension] : 0;
  auto *indices = reinterpret_cast<int64_t *>(own(plan_.program.slots));
  int64_t n = instruction.perRow ? 1 : columnCount_, chunk = plan_.slotBytes / 8 / 64 * 64;
  int64_t size = byteSize(instruction.type);
  for (int64_t begin = 0; begin < n; begin += chunk) {
    int64_t length = std::min(chunk, n - begin);
    for (int64_t i = 0; i < length; ++i)
      indices[i] = first + begin + i;
    primitives_.converts[kI64][primitiveType(instruction.type)](slots_[instruction.result] + begin * size,
                                                                indices, nullptr, nullptr, length);
  }
}

} // namespace

void runVectorProgram(const Context &context, const VectorProgram &program, const VectorCall &call) {
  Plan plan(program, context.isa, call);
  if (plan.outer == 0 || plan.rows == 0 || (plan.columns == 0 && !plan.byRows) || program.phases.empty())
    return;
  int64_t parts = plan.parts(), tiles = plan.tiles();
  context.pool.parallelFor(parts, [&](int64_t part) {
    Runner runner(plan);
    runner.setUp();
    for (int64_t i = tiles * part / parts, end = tiles * (part + 1) / parts; i < end; ++i)
      runner.runTile(i);
  });
}

void runVectorTile(Isa isa, const VectorProgram &program, const VectorCall &call) {
  Plan plan(program, isa, call);
  if (plan.outer == 0 || plan.rows == 0 || (plan.columns == 0 && !plan.byRows) || program.phases.empty())
    return;
  Runner runner(plan);
  runner.setUp();
  for (int64_t i = 0; i < plan.tiles(); ++i)
    runner.runTile(i);
}

} // namespace torchere::cpu
