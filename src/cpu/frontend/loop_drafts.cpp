// Implements LoopDrafts.
#include "cpu/frontend/loop_drafts.h"

#include "base/log.h"

#include "llvm/ADT/StringSwitch.h"

#include <fmt/ranges.h>

namespace torchere::cpu {

/// A jump in between keeps rows of instructions short.
static constexpr size_t mostInRow = 500;

std::optional<VectorOp> foldOf(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<VectorOp>>(name)
      .Case("stablehlo.add", VectorOp::ReduceSum)
      .Case("stablehlo.multiply", VectorOp::ReduceProduct)
      .Case("stablehlo.maximum", VectorOp::ReduceMaximum)
      .Case("stablehlo.minimum", VectorOp::ReduceMinimum)
      .Default(std::nullopt);
}

bool LoopDraft::touches(BufferId id) const {
  if (isDead)
    return false;
  auto isThere = [&](const LoopPlace &place) { return place.buffer == id; };
  return (result && isThere(*result)) || llvm::any_of(operands, isThere) || llvm::any_of(starts, isThere) ||
         llvm::is_contained(touched, id);
}

/// From what is needed, back to what that is computed from, in any turn.
void LoopDrafts::dropDead(llvm::function_ref<bool(BufferId)> isRegister) {
  auto isNeeded = [&](BufferId id) { return !isRegister(id) || needed.contains(id); };
  auto isLive = [&](const LoopDraft &draft) {
    if (draft.instruction.op == LoopOp::Write)
      return isNeeded(program.accesses[draft.instruction.index].whole.buffer);
    return !draft.result || isNeeded(draft.result->buffer);
  };
  bool grows = true;
  while (grows) {
    size_t count = needed.size();
    for (const std::vector<LoopDraft> *list : {&main, &preamble})
      for (const LoopDraft &draft : llvm::reverse(*list)) {
        if (!isLive(draft))
          continue;
        for (const LoopPlace &place : llvm::concat<const LoopPlace>(draft.operands, draft.starts))
          needed.insert(place.buffer);
        needed.insert(draft.touched.begin(), draft.touched.end());
      }
    grows = needed.size() > count;
  }
  for (std::vector<LoopDraft> *list : {&main, &preamble})
    for (LoopDraft &draft : *list)
      draft.isDead = !isLive(draft);
}

/// Whether what `copy` copies can be computed in the loop's value: it is written as a whole by an
/// instruction, and nothing of the turn needs the value of the turn before from then on.
bool LoopDrafts::mayShare(const Turn &turn, size_t copy, BufferId from, BufferId to) const {
  size_t first = turn.begin;
  while (first < copy && !main[first].touches(from))
    ++first;
  const LoopDraft &maker = main[first];
  bool isMade = first < copy && maker.result && maker.result->buffer == from;
  if (!isMade || maker.instruction.op == LoopOp::Fold || !maker.touched.empty())
    return false;
  auto reads = [&](const LoopPlace &operand) { return operand.buffer == to; };
  bool readsIt = llvm::any_of(maker.operands, reads);
  if (readsIt && (maker.instruction.op != LoopOp::Apply || maker.instruction.count != 1))
    return false;
  for (size_t i = first + 1; i < turn.end; ++i)
    if (i != copy && main[i].touches(to))
      return false;
  auto isOutside = [&](const std::vector<LoopDraft> &drafts, size_t begin, size_t end) {
    return std::none_of(drafts.begin() + static_cast<ptrdiff_t>(begin),
                        drafts.begin() + static_cast<ptrdiff_t>(end),
                        [&](const LoopDraft &draft) { return draft.touches(from); });
  };
  return isOutside(preamble, 0, preamble.size()) && isOutside(main, 0, turn.begin) &&
         isOutside(main, turn.end, main.size());
}

void LoopDrafts::computeInPlace(BufferId first, llvm::function_ref<bool(BufferId)> isRegister) {
  for (const Turn &turn : turns)
    for (size_t i = turn.copies; i < turn.end; ++i) {
      const LoopDraft &copy = main[i];
      if (copy.isDead || copy.instruction.op != LoopOp::Move || copy.operands[0].bytes != 0 ||
          copy.result->bytes != 0)
        continue;
      BufferId from = copy.operands[0].buffer, to = copy.result->buffer;
      if (from < first || from == to || !isRegister(from) || !isRegister(to) ||
          planner.buffer(from).bytes != planner.buffer(to).bytes || !mayShare(turn, i, from, to))
        continue;
      shared[from] = to;
      for (LoopDraft &draft : main) {
        for (LoopPlace &operand : draft.operands)
          operand.buffer = operand.buffer == from ? to : operand.buffer;
        for (LoopPlace &start : draft.starts)
          start.buffer = start.buffer == from ? to : start.buffer;
        if (draft.result && draft.result->buffer == from)
          draft.result->buffer = to;
        for (BufferId &id : draft.touched)
          id = id == from ? to : id;
      }
    }
}

uint32_t LoopDrafts::at(const LoopPlace &place) const {
  return static_cast<uint32_t>(places.lookup(place.buffer) + place.bytes);
}

static bool isNothing(const LoopDraft &draft) {
  return draft.isDead ||
         (draft.instruction.op == LoopOp::Move && draft.operands[0].buffer == draft.result->buffer &&
          draft.operands[0].bytes == draft.result->bytes);
}

void LoopDrafts::writeInstructions() {
  std::vector<uint32_t> starts(main.size() + 1); // where each of `main` begins
  std::vector<LoopInstruction> &made = program.instructions;
  size_t inRow = 0;
  for (const std::vector<LoopDraft> *list : {&preamble, &main})
    for (size_t i = 0; i < list->size(); ++i) {
      const LoopDraft &draft = (*list)[i];
      if (++inRow == mostInRow) {
        LoopInstruction next;
        next.index = static_cast<uint32_t>(made.size() + 1);
        made.push_back(next);
        inRow = 0;
      }
      if (list == &main)
        starts[i] = static_cast<uint32_t>(made.size());
      if (isNothing(draft))
        continue;
      LoopInstruction instruction = draft.instruction;
      if (draft.result)
        instruction.result = at(*draft.result);
      for (size_t j = 0; j < draft.operands.size(); ++j)
        instruction.operands[j] = at(draft.operands[j]);
      if (instruction.op == LoopOp::Read || instruction.op == LoopOp::Write)
        for (size_t j = 0; j < draft.starts.size(); ++j)
          program.accesses[instruction.index].starts[j].place = at(draft.starts[j]);
      made.push_back(instruction);
    }
  starts[main.size()] = static_cast<uint32_t>(made.size());
  for (LoopInstruction &instruction : made) {
    bool isJump = instruction.op == LoopOp::JumpIf || instruction.op == LoopOp::JumpUnless;
    if (isJump || (instruction.op == LoopOp::Jump && !(&instruction + 1 == &made[0] + instruction.index)))
      instruction.index = starts[labels[instruction.index]];
  }
  for (uint32_t &target : program.targets)
    target = starts[labels[target]];
}

void LoopDrafts::emit(BufferId first, int64_t begin, llvm::function_ref<bool(BufferId)> isRegister) {
  dropDead(isRegister);
  computeInPlace(first, isRegister);
  int64_t bytes = 0;
  std::vector<std::pair<BufferId, int64_t>> parts;
  auto last = static_cast<BufferId>(planner.bufferCount());
  for (BufferId id = first; id < last; ++id) {
    if (!isRegister(id) || shared.contains(id))
      continue;
    int64_t alignment = planner.buffer(id).bytes > 8 ? 32 : 8;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    places[id] = bytes;
    parts.push_back({id, bytes});
    bytes += planner.buffer(id).bytes;
  }
  for (auto [id, other] : shared) {
    while (shared.contains(other))
      other = shared[other];
    places[id] = places[other];
    parts.push_back({id, places[other]});
  }
  writeInstructions();
  std::vector<std::string_view> names;
  for (const std::unique_ptr<const Step> &step : program.steps)
    names.push_back(step->name());
  TORCHERE_LOG_LINE(Debug, "cpu", "a loop program of {} instructions and {} bytes; steps: {}",
                    program.instructions.size(), bytes, fmt::join(names, ", "));
  View registers = planner.allocate(ElementType::U8, {bytes});
  planner.layParts(registers, parts, first, begin);
  writes.push_back(registers);
  planner.emit(std::make_unique<LoopProgramStep>(std::move(program), registers, planner.isa()), reads,
               writes);
}

} // namespace torchere::cpu
