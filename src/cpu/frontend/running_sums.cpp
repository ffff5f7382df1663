// Implements replaceRunningSums.
#include "cpu/frontend/running_sums.h"

#include "cpu/frontend/expansion/sum.h"
#include "cpu/frontend/fusion/gathered_slices.h"
#include "cpu/frontend/fusion/pattern.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A loop that carries a distance and the sums: while the distance is less than the length, element i +
/// distance takes element i as well.
class SummingLoop {
public:
  explicit SummingLoop(stablehlo::WhileOp loop) : loop(loop) {}
  bool match();
  void replace();

private:
  bool matchCount();
  bool matchSum(mlir::Value sum);
  bool matchReach(mlir::Value reaches);
  mlir::Value distance() { return loop.getBody().getArgument(0); }
  mlir::Value sums() { return loop.getBody().getArgument(1); }
  bool isDistance(mlir::Value value);
  bool arePlacesAlong(mlir::Value value) { return dimensionsOf(value).size() == 1 && arePlaces(value, 0); }

  stablehlo::WhileOp loop;
  int64_t axis = 0;
};

bool SummingLoop::isDistance(mlir::Value value) {
  auto spread = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  return spread && spread.getOperand() == distance();
}

/// The distance goes from 1 to the length of the axis, and nobody asks for it afterwards.
bool SummingLoop::matchCount() {
  Block &condition = loop.getCond().front();
  auto isLess = condition.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  auto doubled = loop.getBody().front().getTerminator()->getOperand(0).getDefiningOp<stablehlo::AddOp>();
  return isLess && isLess.getComparisonDirection() == stablehlo::ComparisonDirection::LT &&
         isLess.getLhs() == condition.getArgument(0) &&
         integerOf(isLess.getRhs()) == dimensionsOf(sums())[static_cast<size_t>(axis)] && doubled &&
         doubled.getLhs() == distance() && doubled.getRhs() == distance() &&
         integerOf(loop->getOperand(0)) == 1 && loop->getResult(0).use_empty();
}

/// Of what was carried, and of the elements so far before it.
bool SummingLoop::matchSum(mlir::Value sum) {
  auto add = sum.getDefiningOp<stablehlo::AddOp>();
  if (!add || (add.getLhs() == sums()) == (add.getRhs() == sums()))
    return false;
  auto gather = (add.getLhs() == sums() ? add.getRhs() : add.getLhs()).getDefiningOp<stablehlo::GatherOp>();
  if (!gather || gather->getOperand(0) != sums())
    return false;
  axis = sliceAxis(gather);
  Subgraph ignored;
  auto from = withoutReshapes(gather.getStartIndices(), ignored).getDefiningOp<stablehlo::SubtractOp>();
  return axis >= 0 && from && arePlacesAlong(from.getLhs()) && isDistance(from.getRhs());
}

/// Whether it holds where there are elements so far before.
bool SummingLoop::matchReach(mlir::Value reaches) {
  if (auto spread = reaches.getDefiningOp<stablehlo::BroadcastInDimOp>()) {
    if (spread.getBroadcastDimensions() != ArrayRef(axis))
      return false;
    reaches = spread.getOperand();
  }
  auto compare = reaches.getDefiningOp<stablehlo::CompareOp>();
  return compare && compare.getComparisonDirection() == stablehlo::ComparisonDirection::GE &&
         arePlacesAlong(compare.getLhs()) && isDistance(compare.getRhs());
}

bool SummingLoop::match() {
  if (loop->getNumOperands() != 2 ||
      !cast<RankedTensorType>(sums().getType()).getElementType().isIntOrFloat() ||
      dimensionsOf(sums()).empty())
    return false;
  auto select = loop.getBody().front().getTerminator()->getOperand(1).getDefiningOp<stablehlo::SelectOp>();
  return select && select.getOnFalse() == sums() && matchSum(select.getOnTrue()) &&
         matchReach(select.getPred()) && matchCount();
}

void SummingLoop::replace() {
  OpBuilder builder(loop);
  loop->getResult(1).replaceAllUsesWith(runningSum(builder, loop.getLoc(), loop->getOperand(1), axis));
  loop->erase();
}

} // namespace

void replaceRunningSums(func::FuncOp function) {
  SmallVector<stablehlo::WhileOp> loops;
  function.walk([&](stablehlo::WhileOp loop) { loops.push_back(loop); });
  for (stablehlo::WhileOp loop : loops)
    if (SummingLoop summing(loop); summing.match())
      summing.replace();
}

} // namespace torchere::cpu
