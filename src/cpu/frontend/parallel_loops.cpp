// Implements placeLoopsTogether.
#include "cpu/frontend/parallel_loops.h"

#include "cpu/execute/control_steps.h"
#include "cpu/frontend/fusion/counted_loop.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/loop_program_builder.h"
#include "cpu/frontend/planner.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Marks each of them but the last.
constexpr StringLiteral besideAttribute = "torchere_cpu.beside";

/// Values of all turns stay in the memory of each loop, so they do not share any.
constexpr int64_t mostTurnBytes = int64_t(4) << 20;
/// No more ops are between two loops that come together.
constexpr size_t mostBetween = 500;

int64_t bytesOfAll(ValueRange values) {
  int64_t bytes = 0;
  for (mlir::Value value : values)
    bytes += bytesOf(value);
  return bytes;
}

/// Whether the op may come earlier or later than others, and run beside them: calls of others' functions and
/// exchanges with other processes may not.
bool mayMove(Operation *op) {
  auto isFree = [](Operation *inner) {
    if (isa<stablehlo::CustomCallOp>(inner))
      return isKernelCall(inner) && !isKernelCall(inner, "exchange");
    return isMemoryEffectFree(inner) || inner->getNumRegions() != 0 ||
           inner->hasTrait<OpTrait::IsTerminator>();
  };
  return !op->walk([&](Operation *inner) {
              return isFree(inner) ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

bool hasLoop(stablehlo::WhileOp loop) {
  return loop
      .walk([&](stablehlo::WhileOp inner) {
        return inner == loop ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

bool mayRunBeside(stablehlo::WhileOp loop) {
  return countedLoop(loop) && !fitsLoopProgram(loop) && !hasLoop(loop) && turnBytes(loop) <= mostTurnBytes;
}

/// Whether the op, or one in its regions, reads a result of these ops of its block.
bool needs(Operation *op, const SmallPtrSetImpl<Operation *> &others) {
  return op
      ->walk([&](Operation *inner) {
        bool found = llvm::any_of(inner->getOperands(), [&](mlir::Value operand) {
          return others.contains(operand.getDefiningOp());
        });
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The loops that `first` is together with, and what comes between them but needs their results.
class Gathering {
public:
  explicit Gathering(stablehlo::WhileOp first) {
    add(first);
    size_t passed = 0;
    for (Operation *op = first->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>() && mayMove(op);
         op = op->getNextNode()) {
      if (passed++ == mostBetween || gathered.size() == ParallelStep::mostLoops)
        break;
      auto loop = dyn_cast<stablehlo::WhileOp>(op);
      if (needs(op, before)) {
        before.insert(op);
        dependents.push_back(op);
      } else if (loop && mayRunBeside(loop)) {
        add(loop);
        passed = 0;
      }
    }
  }

  ArrayRef<stablehlo::WhileOp> loops() const { return gathered; }

  void place() {
    stablehlo::WhileOp last = gathered.back();
    for (stablehlo::WhileOp loop : loops().drop_back()) {
      loop->moveBefore(last);
      loop->setAttr(besideAttribute, UnitAttr::get(loop->getContext()));
    }
    Operation *end = last;
    for (Operation *op : ArrayRef(dependents).take_front(moved)) {
      op->moveAfter(end);
      end = op;
    }
  }

private:
  void add(stablehlo::WhileOp loop) {
    gathered.push_back(loop);
    before.insert(loop);
    moved = dependents.size();
  }

  SmallVector<stablehlo::WhileOp> gathered;
  SmallVector<Operation *> dependents;
  size_t moved = 0; ///< of the dependents: those in front of the last loop
  SmallPtrSet<Operation *, 16> before;
};

std::vector<Gathering> gatherLoops(Block &block) {
  std::vector<Gathering> found;
  for (Operation *op = block.empty() ? nullptr : &block.front(); op; op = op->getNextNode())
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op); loop && mayMove(loop) && mayRunBeside(loop))
      op = found.emplace_back(loop).loops().back();
  return found;
}

} // namespace

std::vector<SmallVector<stablehlo::WhileOp>> loopsThatMayRunTogether(Block &block) {
  std::vector<SmallVector<stablehlo::WhileOp>> loops;
  for (const Gathering &gathering : gatherLoops(block))
    loops.emplace_back(gathering.loops());
  return loops;
}

int64_t turnBytes(stablehlo::WhileOp loop) {
  int64_t bytes = 0;
  loop.getBody().walk([&](Operation *op) {
    if (isView(op) || op->hasTrait<OpTrait::IsTerminator>())
      return;
    if (isa<stablehlo::DynamicSliceOp>(op))
      bytes += 2 * bytesOfAll(op->getResults());
    else if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
      bytes += 2 * bytesOf(update.getUpdate());
    else
      bytes += bytesOfAll(op->getOperands()) + bytesOfAll(op->getResults());
  });
  return bytes;
}

void placeLoopsTogether(func::FuncOp function) {
  SmallVector<Block *> blocks;
  function.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    for (Gathering &gathering : gatherLoops(*block))
      gathering.place();
}

SmallVector<stablehlo::WhileOp> loopsBeside(stablehlo::WhileOp first) {
  SmallVector<stablehlo::WhileOp> loops = {first};
  while (loops.back()->hasAttr(besideAttribute))
    loops.push_back(cast<stablehlo::WhileOp>(loops.back()->getNextNode()));
  return loops;
}

} // namespace torchere::cpu
