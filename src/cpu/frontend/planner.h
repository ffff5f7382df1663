// Planner: makes a plan of a function, op by op.
//
// Ops that only say where elements lie become views. Elementwise ops wait until another op needs one of them:
// then all that it is computed from becomes one vector program. Every other op becomes a step, by the
// function that the table has for it or else by the interpreter's evaluation.
#pragma once

#include "cpu/frontend/evaluated_module.h"
#include "cpu/plan/plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>
#include <span>

namespace torchere::cpu {

class Group;
class Planner;
class SliceStep;
/// Plans an op. False if there is no kernel for it, in which case nothing must have been planned.
using OpPlanner = Result<bool> (*)(Planner &planner, mlir::Operation *op);

class PlannerTable {
public:
  /// ops/<family>.cpp defines add<Family>(PlannerTable &).
  PlannerTable();
  /// `name` is the op's, such as "stablehlo.slice".
  void add(llvm::StringRef name, OpPlanner planner) { rows[name] = planner; }
  /// For custom calls of the target. Those of the engine's kernels must be planned: nothing evaluates them.
  void addCall(llvm::StringRef target, OpPlanner planner) { calls[target] = planner; }
  OpPlanner find(mlir::Operation *op) const;

private:
  llvm::StringMap<OpPlanner> rows, calls;
};

/// Copies to `targets`, none of which is read before all are written: saved first, then written.
struct CopiesTogether {
  std::span<const View> targets;
  llvm::function_ref<View(ElementType, const Sizes &)> allocate;
  llvm::function_ref<Status(const View &, const View &)> copy;

  /// The values, with copies of those that a copy before theirs would overwrite.
  Result<std::vector<View>> save(std::span<const View> values) const;
  Status write(std::span<const View> sources) const;
};

/// The buffers that steps read and write, as they come.
struct Accesses {
  std::vector<BufferId> read, written;

  bool contains(BufferId buffer) const {
    return llvm::is_contained(read, buffer) || llvm::is_contained(written, buffer);
  }
};

/// Ops in the order in which they came; any of them leaves at no cost.
class WaitingOps {
public:
  bool empty() const { return ops.empty(); }
  bool contains(mlir::Operation *op) const { return places.contains(op); }
  mlir::Operation *back() const { return ops.rbegin()->second; }
  /// `depth`: how many of those that wait need each other in turn, this one last.
  void insert(mlir::Operation *op, size_t depth) {
    if (places.try_emplace(op, Place{next, depth}).second)
      ops[next++] = op;
  }
  void remove(mlir::Operation *op) {
    if (auto found = places.find(op); found != places.end()) {
      ops.erase(found->second.number);
      places.erase(found);
    }
  }
  /// 0 if it does not wait.
  size_t depthOf(mlir::Operation *op) const { return places.lookup(op).depth; }
  auto inOrder() const { return llvm::make_second_range(ops); }

private:
  struct Place {
    size_t number = 0, depth = 0;
  };
  size_t next = 0;
  llvm::DenseMap<mlir::Operation *, Place> places;
  std::map<size_t, mlir::Operation *> ops; ///< by number
};

class Planner {
public:
  /// `isDonated`: by argument, whether steps may write into it.
  Planner(std::shared_ptr<EvaluatedModule> module, Isa isa, std::vector<bool> isDonated)
      : module(std::move(module)), targetIsa(isa), isDonated(std::move(isDonated)) {}
  /// The function has one block, and all types in it are static tensors. The results of a donated argument
  /// are laid into it where that costs no copy.
  Result<Plan> plan(mlir::func::FuncOp function);
  /// To be told before planning, by argument: which are weights.
  void setWeights(std::vector<bool> weights) { isWeight = std::move(weights); }
  /// The process that runs the plan, of a program of several.
  void setProcess(int64_t process) { ownProcess = process; }
  /// The views of weights that the plan needs dense copies of, as its further arguments.
  const std::vector<View> &weightCopies() const { return copiedWeights; }

  // The rest is for the functions that plan ops.

  Isa isa() const { return targetIsa; }
  int64_t process() const { return ownProcess; }
  /// Where a value lies; plans its computation if that is pending.
  Result<View> view(mlir::Value value);
  /// The same, copied if it is not dense.
  Result<View> viewDense(mlir::Value value);
  /// Where a value that is computed by the next steps lies from now on.
  void bind(mlir::Value value, const View &view);
  /// A new dense buffer of the value's type, bound to it.
  View allocate(mlir::Value value);
  View allocate(ElementType type, const Sizes &shape);
  /// The same as the first, with the dimensions in another order in memory, the innermost last.
  View allocateInOrder(mlir::Value value, std::span<const int64_t> order);
  /// Adds a step that reads and writes these views.
  void emit(std::unique_ptr<const Step> step, std::span<const View> reads, std::span<const View> writes);
  /// The same into another list, for `op`.
  void emitInto(Steps &list, mlir::Operation *op, std::unique_ptr<const Step> step,
                std::span<const View> reads, std::span<const View> writes);
  /// A slice that is written into `whole`, and what it reads, as a part of the last step: false if that is
  /// not a cell whose result it is.
  bool joinCell(const SliceStep &slice, std::span<const View> reads, const View &whole);
  Status emitCopy(const View &from, const View &to);
  /// Lets the steps that write `part`, which are planned, write into `whole` from this element on. False if
  /// its memory cannot be moved there; then the elements are to be copied.
  bool layInto(const View &part, const View &whole, int64_t element);
  /// What was laid out one after the other, and where.
  struct Concatenation {
    std::vector<View> parts;
    View whole;
  };
  std::vector<Concatenation> &laidOut() { return concatenations; }
  /// For a step that writes by strides: where a concatenation that alone uses the value wants it, or else new
  /// memory. The concatenation finds its memory by wholeOf().
  View allocateInPlace(mlir::Value value);
  /// The concatenation's memory, some of which may be written by steps before it.
  View wholeOf(mlir::Operation *concatenation);
  /// The same elements, dense. A weight is copied only once for all runs.
  Result<View> copyOf(const View &view);
  std::optional<View> repeatedConstant(const View &view);
  /// Copies to where padding leaves the elements; those that negative padding cuts are left out.
  Status emitPadded(const View &from, const View &to, const Sizes &low, const Sizes &interior);
  /// Lets an elementwise op wait; nothing computes one that nothing uses.
  void defer(mlir::Operation *op);
  /// The same for a reduction, which waits until a step of another kind is planned.
  void deferReduction(mlir::Operation *op) {
    defer(op);
    hasReductions = true;
  }
  bool isPending(mlir::Operation *op) const { return op && pending.contains(op); }
  /// Whether it is known where the value lies.
  bool isBound(mlir::Value value) const { return views.contains(value); }
  /// Whether a step computes the elementwise op or the reduction, and has found its operands.
  bool isComputed(mlir::Operation *op) const { return computed.contains(op); }
  /// Plans all that waits, before what it reads is overwritten or in front of regions.
  Status flush();
  /// Whether the op may write into the view's memory: nothing after it in the program reads that.
  bool mayOverwrite(const View &view, mlir::Operation *op);
  /// The argument, if the view is of one.
  std::optional<size_t> argumentOf(const View &view) const;
  bool isConstant(const View &view) const { return result.buffers[view.buffer].home == Home::Constant; }
  View constant(ElementType type, const Sizes &shape, std::span<const std::byte> bytes);
  /// The indices of an iota as a constant of one dimension, seen in its shape; none if there are many.
  std::optional<View> indicesOf(mlir::Operation *iota);

  /// Plans a region of one block into a list of steps of its own; its terminator's operands are views.
  struct PlannedRegion {
    Steps steps;
    std::vector<View> results;
  };
  Result<PlannedRegion> planRegion(mlir::Region &region, std::span<const View> arguments);
  /// Copies into `targets`, none of which is read before all are written.
  Result<Steps> planCopies(std::span<const View> values, std::span<const View> targets);
  /// Between these, steps are run repeatedly: what is defined before and used inside stays.
  int64_t beginLoop() { return now; }
  void endLoop(int64_t begin);
  /// Whether two views are all of two buffers of the arena, of one size and without parts, the second of them
  /// from `firstNew` on.
  bool maySwap(const View &value, const View &next, size_t firstNew) const;
  /// The buffers from `first` on are in use from the step `begin` until now.
  void keepInUse(BufferId first, int64_t begin);
  /// The buffer counts as used before the loop too, so that it stays until its end.
  void useBeforeLoop(BufferId buffer, int64_t begin);
  /// The memory of loop values: that of their initial values where nobody needs these any more and mayTake(),
  /// or new memory, which they are copied into by `copy`.
  Result<std::vector<View>> carriedViews(mlir::Operation *loop, llvm::function_ref<bool(BufferId)> mayTake,
                                         llvm::function_ref<Status(const View &, const View &)> copy);

  /// Writes further steps into another list. Returns the one before.
  Steps *writeInto(Steps *list) { return std::exchange(steps, list); }
  /// What the steps from now on read and write goes there, until the innermost such call is ended.
  void beginAccesses(Accesses *accesses) { listeners.push_back(accesses); }
  void endAccesses() { listeners.pop_back(); }

  // For loop programs, which plan ops one by one and lay their values themselves.

  Status planOp(mlir::Operation *op);
  size_t bufferCount() const { return result.buffers.size(); }
  const Buffer &buffer(BufferId id) const { return result.buffers[id]; }
  /// Makes parts of memory, which are in use from the step `begin` until now, of the buffers at these bytes
  /// of it; all other buffers from `first` on are in use so long.
  void layParts(const View &whole, llvm::ArrayRef<std::pair<BufferId, int64_t>> parts, BufferId first,
                int64_t begin);

private:
  /// Whether the op only gives elements of rows another shape or a whole row each, and what they are computed
  /// from waits: then it may wait as well.
  bool keepsRows(mlir::Operation *op) const;
  Status limitWaiting(mlir::Operation *op);
  Status planEvaluation(mlir::Operation *op);
  Status planGroup(mlir::Operation *root);
  Status planReductions(mlir::Operation *first);
  Result<bool> planJoined(Group &group, llvm::ArrayRef<mlir::Operation *> reductions,
                          llvm::ArrayRef<mlir::Value> roots);
  Status planReduction(mlir::Operation *op);
  Status flushReductions();
  Result<bool> planRows(llvm::ArrayRef<mlir::Operation *> roots);
  Status planWaitingView(mlir::Operation *op);
  Result<bool> settle(llvm::ArrayRef<mlir::Value> waiting);
  mlir::Operation *rowRootOf(mlir::Operation *first) const;
  llvm::SmallVector<mlir::Operation *> reductionsBeside(mlir::Operation *first) const;
  Status planResults(mlir::func::FuncOp function);
  const Step *sliceForLast() const;
  void dropSlice(const SliceStep &slice);
  bool joinProduct(const Step &vector, std::span<const View> reads, std::span<const View> writes);
  void replaceLast(std::unique_ptr<const Step> step, std::span<const View> reads,
                   std::span<const View> writes);
  void tell(const Step &step, std::span<const View> reads, std::span<const View> writes);
  void use(const View &view);
  void read(const View &view, const Step &step);
  void note(const Step &step, std::span<const View> reads, std::span<const View> writes);
  bool hasParts(BufferId whole) const;
  BufferId addBuffer(Home home, size_t index, int64_t bytes);

  std::shared_ptr<EvaluatedModule> module;
  Isa targetIsa;
  int64_t ownProcess = 0;
  std::vector<bool> isDonated;
  std::vector<bool> isWeight;
  std::vector<View> copiedWeights;
  size_t argumentCount = 0; ///< of the function
  Plan result;
  Steps *steps = nullptr; ///< the list that is being written
  std::vector<Accesses *> listeners;
  mlir::Operation *current = nullptr; ///< which is being planned
  int64_t now = 0;                    ///< the number of the next step
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<BufferId, llvm::SmallVector<mlir::Value>> valuesIn; ///< by buffer
  WaitingOps pending;
  bool hasReductions = false; ///< that may be pending
  llvm::DenseSet<mlir::Operation *>
      rowValues;           ///< reductions of rows that wait, and what is computed from them
  bool isSettling = false; ///< what another group reads is planned: nothing that may read that group
  llvm::DenseSet<mlir::Operation *> computed;
  std::vector<Concatenation> concatenations;
  llvm::DenseMap<mlir::Operation *, View> wholes; ///< by concatenation, of which parts lie in place
};

/// The sizes of a static tensor; its element type in memory; the type that kernels know it by, if any, which
/// quantized types have not.
Sizes shapeOf(mlir::Value value);
ElementType elementTypeOf(mlir::Value value);
std::optional<DType> dtypeOf(mlir::Value value);
/// Whether the op computes nothing: it says where the elements of its operand lie, or has them itself.
bool isView(mlir::Operation *op);
/// Of a static tensor.
int64_t bytesOf(mlir::Value value);
/// The memory that the elements of views lie in; what is repeated counts once.
int64_t bytesOf(std::span<const View> views);
/// The integers of an attribute that is a list or a dense tensor; `count` times `value` if there is none.
Sizes integersOf(mlir::Operation *op, llvm::StringRef name, size_t count = 0, int64_t value = 0);

} // namespace torchere::cpu
