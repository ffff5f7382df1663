// LoopDrafts: the instructions of a loop program in the making, on buffers that become registers.
#pragma once

#include "cpu/execute/loop_program.h"
#include "cpu/frontend/planner.h"

namespace torchere::cpu {

struct LoopPlace {
  BufferId buffer = 0;
  int64_t bytes = 0;
};

struct LoopDraft {
  /// Targets are labels. Places are those below.
  LoopInstruction instruction;
  std::optional<LoopPlace> result;
  llvm::SmallVector<LoopPlace, 3> operands;
  llvm::SmallVector<LoopPlace, 0> starts; ///< of its access
  std::vector<BufferId> touched;          ///< what it reads or writes beside these
  bool isDead = false;

  void addOperand(const LoopPlace &place) { operands.push_back(place); }
  bool touches(BufferId id) const;
};

class LoopDrafts {
public:
  explicit LoopDrafts(Planner &planner) : planner(planner) {}

  std::vector<LoopDraft> preamble, main;
  LoopProgram program; ///< but for the instructions
  std::vector<View> reads, writes;
  llvm::DenseSet<BufferId> needed; ///< behind the loop
  /// A turn of a loop: its first instruction, the first of the copies to the loop's values, the end.
  struct Turn {
    size_t begin, copies, end;
  };
  std::vector<Turn> turns;

  size_t newLabel() {
    labels.push_back(0);
    return labels.size() - 1;
  }
  /// At the end of `main`.
  void place(size_t label) { labels[label] = main.size(); }

  /// Gives the buffers from `first` on that are registers their places, and adds the step.
  void emit(BufferId first, int64_t begin, llvm::function_ref<bool(BufferId)> isRegister);

private:
  void dropDead(llvm::function_ref<bool(BufferId)> isRegister);
  void computeInPlace(BufferId first, llvm::function_ref<bool(BufferId)> isRegister);
  bool mayShare(const Turn &turn, size_t copy, BufferId from, BufferId to) const;
  void writeInstructions();
  uint32_t at(const LoopPlace &place) const;

  Planner &planner;
  std::vector<size_t> labels;
  llvm::DenseMap<BufferId, BufferId> shared; ///< a register that is another one
  llvm::DenseMap<BufferId, int64_t> places;
};

/// The reduction of vector programs that joins by the op of this name.
std::optional<VectorOp> foldOf(llvm::StringRef name);

} // namespace torchere::cpu
