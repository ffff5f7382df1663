// Makes loop programs of loops with small bodies. Values are views of buffers, as everywhere; those of small
// buffers become registers at the end, when all are known.
#pragma once

#include "cpu/frontend/loop_drafts.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace torchere::cpu {

/// Whether what the loop computes is short enough for registers, and no part of it is better computed by
/// several threads.
bool fitsLoopProgram(stablehlo::WhileOp loop);
Status planLoopProgram(Planner &planner, stablehlo::WhileOp loop);

/// How many products a contraction adds up; -1 for other ops.
int64_t productsOf(mlir::Operation *op);

class LoopProgramBuilder {
public:
  /// Elements. Longer values are computed by steps, which have several threads and fuse what they compute.
  static constexpr int64_t longestValue = 2048;
  static constexpr int64_t largestRegister = longestValue * 8; ///< bytes

  explicit LoopProgramBuilder(Planner &planner)
      : planner(planner), firstBuffer(static_cast<BufferId>(planner.bufferCount())), drafts(planner),
        code(&drafts.main) {}

  Status plan(stablehlo::WhileOp loop);

private:
  using Place = LoopPlace;
  using Draft = LoopDraft;

  Status addRegion(mlir::Region &region, llvm::SmallVectorImpl<View> &results);
  Status addOp(mlir::Operation *op);
  Status addLoop(stablehlo::WhileOp loop);
  Status addBranches(mlir::Operation *op);
  Status addBranch(mlir::Region &region, const std::vector<View> &results);
  Status addElementwise(mlir::Operation *op);
  Status addInstructions(const VectorProgram &program, llvm::ArrayRef<Place> inputs, const View &result);
  Status addFold(stablehlo::ReduceOp op);
  Status addProduct(stablehlo::DotGeneralOp op);
  Status addConcatenation(mlir::Operation *op);
  Result<bool> addArrangement(const View &view, const Place &place);
  Status addSlice(stablehlo::DynamicSliceOp op);
  Status addUpdate(stablehlo::DynamicUpdateSliceOp op);
  Result<bool> addScatter(stablehlo::ScatterOp op);
  Status addForeign(mlir::Operation *op);
  Status addCopies(llvm::ArrayRef<View> values, llvm::ArrayRef<View> targets, std::optional<size_t> turn);
  Status addCopy(const View &from, const View &to);
  Result<View> targetOf(mlir::Value tensor, mlir::Value updated, llvm::ArrayRef<View> reads);

  Result<View> viewOf(mlir::Value value);
  Result<Place> registersOf(const View &view);
  Result<Place> registersOf(mlir::Value value);
  Result<std::vector<LoopIndex>> startsOf(mlir::ValueRange starts, Draft &draft);
  void addSteps();
  Draft &add(LoopOp op) {
    code->emplace_back();
    code->back().instruction.op = op;
    return code->back();
  }
  void jump(LoopOp op, size_t label, std::optional<Place> predicate = {}) {
    Draft &made = add(op);
    made.instruction.index = static_cast<uint32_t>(label);
    if (predicate)
      made.addOperand(*predicate);
  }
  void addMemory(LoopOp op, const View &whole, const Sizes &part, std::vector<LoopIndex> starts,
                 const Place &place, Draft draft = {}, bool isDropped = false);
  View allocate(ElementType type, const Sizes &shape) {
    View made = planner.allocate(type, shape);
    if (code == &drafts.preamble)
      fixed.insert(made.buffer);
    return made;
  }
  View allocate(mlir::Value value) {
    View made = allocate(elementTypeOf(value), shapeOf(value));
    planner.bind(value, made);
    return made;
  }

  bool isOwn(BufferId id) const {
    return id >= firstBuffer && planner.buffer(id).home == Home::Arena &&
           planner.buffer(id).bytes <= largestRegister;
  }
  /// Whether it holds the same in all of the program.
  bool isFixed(BufferId id) const {
    return fixed.contains(id) || planner.buffer(id).home == Home::Constant ||
           (id < firstBuffer && !written.contains(id));
  }
  bool canHoist(mlir::Operation *op) {
    return code == &drafts.main && mlir::isMemoryEffectFree(op) && op->getNumRegions() <= 1 &&
           !mlir::isa<stablehlo::CustomCallOp, stablehlo::RngOp>(op) &&
           llvm::all_of(op->getOperands(), [&](mlir::Value value) {
             return !planner.isPending(value.getDefiningOp()) && isFixed(planner.view(value)->buffer);
           });
  }
  void forget(BufferId id) {
    llvm::erase_if(copies, [&](const auto &each) { return each.first.buffer == id; });
  }

  Planner &planner;
  BufferId firstBuffer;
  LoopDrafts drafts;
  std::vector<Draft> *code;
  Accesses accesses; ///< of the steps that no instruction runs yet
  size_t addedSteps = 0;
  llvm::DenseSet<BufferId> fixed;                  ///< written in the preamble alone
  llvm::DenseSet<BufferId> written;                ///< of those from outside
  std::vector<std::pair<View, Place>> fixedCopies; ///< of views, as dense registers
  std::vector<std::pair<View, Place>> copies;      ///< likewise, while this region lasts
};

} // namespace torchere::cpu
