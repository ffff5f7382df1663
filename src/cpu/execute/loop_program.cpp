// Implements the run of loop programs: each instruction is a handler, which goes on with the next one.
#include "cpu/execute/loop_program.h"

#include "cpu/execute/slice_step.h"
#include "cpu/plan/limits.h"
#include "cpu/vector/op_rules.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace torchere::cpu {

struct ScalarRun {
  const Frame &frame;
  std::byte *const *memory; ///< by buffer
  Status status;
};

namespace {

using Instruction = ScalarInstruction;
using Access = LoopProgramStep::Access;

const Instruction *applyPrimitive(const Instruction *at, char *r, ScalarRun &run) {
  at->primitive(r + at->result, r + at->operands[0], r + at->operands[1], r + at->operands[2], at->count);
  return runNext(at, r, run);
}

const Instruction *foldRows(const Instruction *at, char *r, ScalarRun &run) {
  const auto &[rows, columns, rest, none] = static_cast<const LoopInstruction *>(at->data)->sizes;
  at->fold(r + at->result, r + at->operands[1], r + at->operands[0], rows, columns);
  return runNext(at, r, run);
}

const Instruction *multiply(const Instruction *at, char *r, ScalarRun &run) {
  const auto &[batches, m, k, n] = static_cast<const LoopInstruction *>(at->data)->sizes;
  for (int64_t batch = 0; batch < batches; ++batch)
    at->product(r + at->result + batch * m * n * at->count, r + at->operands[0] + batch * m * k * at->count,
                r + at->operands[1] + batch * k * n * at->count, m, k, n);
  return runNext(at, r, run);
}

/// A row that is repeated is copied in ever longer pieces.
template <size_t size> const Instruction *arrange(const Instruction *at, char *r, ScalarRun &run) {
  const auto &[rows, columns, rowStride, columnStride] =
      static_cast<const LoopInstruction *>(at->data)->sizes;
  constexpr auto bytes = static_cast<int64_t>(size);
  char *to = r + at->result;
  int64_t different = rowStride == 0 ? std::min<int64_t>(rows, 1) : rows;
  for (int64_t row = 0; row < different; ++row, to += columns * bytes) {
    const char *from = r + at->operands[0] + row * rowStride * bytes;
    for (int64_t column = 0; column < columns; ++column)
      std::memcpy(to + column * bytes, from + column * columnStride * bytes, size);
  }
  char *whole = r + at->result;
  for (int64_t done = different; done < rows; done *= 2)
    std::memcpy(whole + done * columns * bytes, whole,
                static_cast<size_t>(std::min(done, rows - done) * columns * bytes));
  return runNext(at, r, run);
}
/// By log2 of the size.
constexpr ScalarHandler arrangements[] = {&arrange<1>, &arrange<2>, &arrange<4>, &arrange<8>};

/// As many bytes; 0: as the instruction says.
template <size_t size> void copyBytes(void *to, const void *from, const Instruction &at) {
  if constexpr (size == 0)
    std::memmove(to, from, static_cast<size_t>(at.count));
  else
    std::memcpy(to, from, size);
}

template <size_t size> const Instruction *move(const Instruction *at, char *r, ScalarRun &run) {
  copyBytes<size>(r + at->result, r + at->operands[0], *at);
  return runNext(at, r, run);
}

/// Whether there are none, all are i32, and a part outside is dropped.
enum class Starts : uint8_t { None, I32, Some, I32Dropped, Dropped };

/// Null for a part that is dropped.
template <Starts kind> std::byte *placeOf(const Access &access, const char *r, const ScalarRun &run) {
  constexpr bool isI32 = kind == Starts::I32 || kind == Starts::I32Dropped;
  constexpr bool drops = kind == Starts::I32Dropped || kind == Starts::Dropped;
  std::byte *place = run.memory[access.buffer] + access.offset;
  if constexpr (kind == Starts::None)
    return place;
  for (const Access::Start &each : access.starts) {
    int64_t start;
    if constexpr (isI32) {
      int32_t word;
      std::memcpy(&word, r + each.place, sizeof word);
      start = word;
    } else {
      start = integerAt(reinterpret_cast<const std::byte *>(r) + each.place, each.type);
    }
    start += start < 0 ? each.wrap : 0;
    if (drops && static_cast<uint64_t>(start) > static_cast<uint64_t>(each.last))
      return nullptr;
    place += (drops ? start : std::clamp<int64_t>(start, 0, each.last)) * each.stride;
  }
  return place;
}

template <Starts kind, size_t size> const Instruction *read(const Instruction *at, char *r, ScalarRun &run) {
  copyBytes<size>(r + at->result, placeOf<kind>(*static_cast<const Access *>(at->data), r, run), *at);
  return runNext(at, r, run);
}

template <Starts kind, size_t size> const Instruction *write(const Instruction *at, char *r, ScalarRun &run) {
  if (std::byte *place = placeOf<kind>(*static_cast<const Access *>(at->data), r, run))
    copyBytes<size>(place, r + at->operands[0], *at);
  return runNext(at, r, run);
}

/// In the order 1, 4, 8 bytes, others.
template <Starts kind>
constexpr ScalarHandler reads[] = {&read<kind, 1>, &read<kind, 4>, &read<kind, 8>, &read<kind, 0>};
template <Starts kind>
constexpr ScalarHandler writes[] = {&write<kind, 1>, &write<kind, 4>, &write<kind, 8>, &write<kind, 0>};
constexpr ScalarHandler moves[] = {&move<1>, &move<4>, &move<8>, &move<0>};
constexpr const ScalarHandler *readsOf[] = {reads<Starts::None>, reads<Starts::I32>, reads<Starts::Some>};
constexpr const ScalarHandler *writesOf[] = {writes<Starts::None>, writes<Starts::I32>, writes<Starts::Some>,
                                             writes<Starts::I32Dropped>, writes<Starts::Dropped>};

size_t rowOf(int64_t bytes) {
  return bytes == 1 ? 0 : bytes == 4 ? 1 : bytes == 8 ? 2 : 3;
}

Starts startsOf(const LoopAccess &access) {
  bool isI32 = std::all_of(access.starts.begin(), access.starts.end(),
                           [](const LoopIndex &start) { return start.type == ElementType::I32; });
  if (access.isDropped)
    return isI32 ? Starts::I32Dropped : Starts::Dropped;
  return access.starts.empty() ? Starts::None : isI32 ? Starts::I32 : Starts::Some;
}

// What may go elsewhere returns, so that the calls of handlers are never nested deeply.
const Instruction *jump(const Instruction *at, char *, ScalarRun &) {
  return at->target;
}
template <bool expected> const Instruction *jumpIf(const Instruction *at, char *r, ScalarRun &run) {
  return (r[at->operands[0]] != 0) == expected ? at->target : runNext(at, r, run);
}
const Instruction *choose(const Instruction *at, char *r, ScalarRun &) {
  int32_t index;
  std::memcpy(&index, r + at->operands[0], sizeof index);
  auto chosen = static_cast<uint64_t>(static_cast<int64_t>(index));
  auto last = static_cast<uint64_t>(at->count) - 1;
  return static_cast<const Instruction *const *>(at->data)[std::min(chosen, last)];
}
const Instruction *runStep(const Instruction *at, char *, ScalarRun &run) {
  const Step &step = *static_cast<const Step *>(at->data);
  run.status = run.frame.recorder ? run.frame.recorder->run(step, run.frame) : step.run(run.frame);
  return run.status ? at + 1 : nullptr;
}
const Instruction *end(const Instruction *, char *, ScalarRun &) {
  return nullptr;
}

int64_t bytesOf(const LoopAccess &access) {
  return elementCount(access.part) * access.whole.elementSize();
}

void resolveApply(ScalarInstruction &made, const LoopInstruction &instruction, const Primitives &table) {
  int from = primitiveType(instruction.type), to = primitiveType(instruction.to);
  auto function = static_cast<int>(instruction.function);
  bool isConversion = instruction.function == VectorOp::Convert;
  if (instruction.function == VectorOp::Bitcast) {
    made.count = instruction.count * static_cast<int64_t>(byteSize(instruction.type));
    made.handler = moves[rowOf(made.count)];
    return;
  }
  made.primitive = isConversion ? table.converts[from][to] : table.ops[function][from];
  ScalarHandler scalar = isConversion ? table.scalarConverts[from][to] : table.scalars[function][from];
  made.handler = instruction.count == 1 && scalar ? scalar : &applyPrimitive;
}

} // namespace

bool isContiguousPart(const View &whole, const Sizes &part) {
  const Sizes dense = rowMajorStrides(part);
  for (size_t i = 0; i < dense.size(); ++i)
    if (part[i] != 1 && whole.strides[i] != dense[i])
      return false;
  return true;
}

ScalarInstruction LoopProgramStep::resolve(const LoopInstruction &instruction, Isa isa) const {
  const Primitives &table = primitivesOf(isa);
  ScalarInstruction made;
  made.result = instruction.result;
  std::copy_n(instruction.operands, 3, made.operands);
  made.count = instruction.count;
  switch (instruction.op) {
  case LoopOp::Apply:
    resolveApply(made, instruction, table);
    break;
  case LoopOp::Spread:
    made.primitive = table.broadcasts[std::countr_zero(byteSize(instruction.type))];
    made.handler = &applyPrimitive;
    break;
  case LoopOp::Arrange:
    made.data = &instruction;
    made.handler = arrangements[std::countr_zero(byteSize(instruction.type))];
    break;
  case LoopOp::Product:
    made.product = table.products[primitiveType(instruction.type)];
    made.data = &instruction;
    made.count = static_cast<int64_t>(byteSize(instruction.type));
    made.handler = &multiply;
    break;
  case LoopOp::Fold:
    made.fold = table.rowFolds[static_cast<int>(instruction.function)][primitiveType(instruction.type)];
    made.data = &instruction;
    made.handler = &foldRows;
    break;
  case LoopOp::Move:
    made.handler = moves[rowOf(made.count)];
    break;
  case LoopOp::Read:
  case LoopOp::Write: {
    const LoopAccess &access = program.accesses[instruction.index];
    auto kind = static_cast<size_t>(startsOf(access));
    made.count = bytesOf(access);
    made.data = &accesses[instruction.index];
    made.handler = (instruction.op == LoopOp::Read ? readsOf : writesOf)[kind][rowOf(made.count)];
    break;
  }
  case LoopOp::Jump:
  case LoopOp::JumpIf:
  case LoopOp::JumpUnless:
    made.target = &code[instruction.index];
    made.handler = instruction.op == LoopOp::Jump     ? &jump
                   : instruction.op == LoopOp::JumpIf ? &jumpIf<true>
                                                      : &jumpIf<false>;
    break;
  case LoopOp::Switch:
    made.data = &targets[instruction.index];
    made.handler = &choose;
    break;
  case LoopOp::Run:
    made.data = program.steps[instruction.index].get();
    made.handler = &runStep;
    break;
  }
  return made;
}

/// A comparison and the jump by it become one.
static void joinJump(ScalarInstruction &made, const LoopInstruction &here, const LoopInstruction &next,
                     const Primitives &table) {
  bool isJump = next.op == LoopOp::JumpIf || next.op == LoopOp::JumpUnless;
  bool compares = here.op == LoopOp::Apply && here.count == 1 && isComparison(here.function);
  if (isJump && compares && next.operands[0] == here.result)
    made.handler = table.branches[next.op == LoopOp::JumpUnless][comparisonNumber(here.function)]
                                 [primitiveType(here.type)];
}

void LoopProgramStep::derive(Isa isa) {
  for (const LoopAccess &access : program.accesses) {
    const View &whole = access.whole;
    Access made{whole.buffer, whole.offset * whole.elementSize(), {}};
    for (size_t i = 0; i < access.starts.size(); ++i)
      made.starts.push_back({access.starts[i].place, access.starts[i].type, access.starts[i].wrap,
                             whole.shape[i] - access.part[i], whole.strides[i] * whole.elementSize()});
    accesses.push_back(std::move(made));
  }
  const std::vector<LoopInstruction> &from = program.instructions;
  code.resize(from.size() + 1);
  for (uint32_t target : program.targets)
    targets.push_back(&code[target]);
  for (size_t i = 0; i < from.size(); ++i) {
    code[i] = resolve(from[i], isa);
    if (i + 1 < from.size())
      joinJump(code[i], from[i], from[i + 1], primitivesOf(isa));
  }
  code.back().handler = &end;
}

Status LoopProgramStep::run(const Frame &frame) const {
  ScalarRun run{frame, frame.memory.data(), {}};
  char *place = reinterpret_cast<char *>(frame.at(registers));
  for (const ScalarInstruction *at = code.data(); at;)
    at = at->handler(at, place, run);
  return std::move(run.status);
}

} // namespace torchere::cpu
