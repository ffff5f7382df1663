// Finds loops that bisect a table for many values at once, as JAX's searchsorted does: each becomes one call.
#include "cpu/kernels/bisection.h"
#include "cpu/frontend/fusion/counted_loop.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

#include <cmath>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A loop that carries a counter and, for each value, the lowest and the highest place that it may have.
class Bisection {
public:
  explicit Bisection(stablehlo::WhileOp loop) : loop_(loop), body_(loop.getBody().front()) {}
  bool match();
  void replace();

private:
  bool matchCount();
  bool matchHalves(unsigned low, unsigned high);
  bool matchMiddle();
  bool matchChoice(mlir::Value isLeft);
  bool matchTable(mlir::Value element);
  mlir::Value next(unsigned index) const { return body_.getTerminator()->getOperand(index); }
  bool isOutside(mlir::Value value) { return value.getParentRegion()->isProperAncestor(&loop_.getBody()); }

  stablehlo::WhileOp loop_;
  Block &body_;
  unsigned counter_ = 0, low_ = 0, high_ = 0;
  int64_t turns_ = 0;
  bool isStrict_ = false;
  mlir::Value middle_, table_, values_;
};

/// A value whose elements are those of this one, in their order.
mlir::Value unshaped(mlir::Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto spread = dyn_cast<stablehlo::BroadcastInDimOp>(op);
    bool isReshape =
        spread && llvm::is_sorted(spread.getBroadcastDimensions()) &&
        llvm::product_of(dimensionsOf(spread.getOperand())) == llvm::product_of(dimensionsOf(value));
    if (!isReshape && !isa<stablehlo::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// What is compared, where it is a float: a zero without its sign, and one NaN for all.
mlir::Value withoutKinds(mlir::Value value) {
  auto ofNumbers = value.getDefiningOp<stablehlo::SelectOp>();
  auto isNan = ofNumbers ? ofNumbers.getPred().getDefiningOp<stablehlo::CompareOp>() : stablehlo::CompareOp();
  auto ofZeros = isNan ? ofNumbers.getOnFalse().getDefiningOp<stablehlo::SelectOp>() : stablehlo::SelectOp();
  auto isZero = ofZeros ? ofZeros.getPred().getDefiningOp<stablehlo::CompareOp>() : stablehlo::CompareOp();
  if (!isZero)
    return {};
  mlir::Value x = ofZeros.getOnFalse();
  auto compares = [&](stablehlo::CompareOp compare, stablehlo::ComparisonDirection direction,
                      mlir::Value left) {
    return compare.getComparisonDirection() == direction && compare.getLhs() == left &&
           compare.getCompareType() != stablehlo::ComparisonType::TOTALORDER;
  };
  std::optional<double> nan = splatOf(ofNumbers.getOnTrue()), zero = splatOf(ofZeros.getOnTrue());
  bool holds = compares(isNan, stablehlo::ComparisonDirection::NE, x) && isNan.getRhs() == x &&
               compares(isZero, stablehlo::ComparisonDirection::EQ, x) && splatOf(isZero.getRhs()) == 0.0 &&
               nan && std::isnan(*nan) && !std::signbit(*nan) && zero == 0.0 && !std::signbit(*zero);
  return holds ? x : mlir::Value();
}

bool hasKernel(Type type) {
  std::optional<ElementType> known = stablehlo::elementTypeOf(type);
  if (!known)
    return false;
  const auto &info = elementTypeInfo(*known);
  return info.dtype && info.bits >= 8 && hasBisection(*info.dtype);
}

/// Runs a known number of times: from zero, by one.
bool Bisection::matchCount() {
  std::optional<CountedLoop> count = countedLoop(loop_);
  if (!count || count->comparison != stablehlo::ComparisonDirection::LT || count->step != 1)
    return false;
  std::optional<int64_t> limit = integerOf(count->limit);
  if (!limit || *limit < 0 || *limit > kMaxBisectionTurns)
    return false;
  counter_ = count->index;
  turns_ = *limit;
  return integerOf(loop_->getOperand(counter_)) == 0 && loop_->getResult(counter_).use_empty();
}

/// low + (high - low) / 2
bool Bisection::matchMiddle() {
  auto sum = middle_.getDefiningOp<stablehlo::AddOp>();
  mlir::Value low = body_.getArgument(low_), high = body_.getArgument(high_);
  mlir::Value half = !sum                  ? mlir::Value()
                     : sum.getLhs() == low ? sum.getRhs()
                     : sum.getRhs() == low ? sum.getLhs()
                                           : mlir::Value();
  Operation *halved = half ? half.getDefiningOp() : nullptr;
  bool isHalf =
      isa_and_nonnull<stablehlo::DivOp>(halved)
          ? splatOf(halved->getOperand(1)) == 2.0
          : isa_and_nonnull<stablehlo::ShiftRightLogicalOp, stablehlo::ShiftRightArithmeticOp>(halved) &&
                splatOf(halved->getOperand(1)) == 1.0;
  auto difference =
      isHalf ? halved->getOperand(0).getDefiningOp<stablehlo::SubtractOp>() : stablehlo::SubtractOp();
  return difference && difference.getLhs() == high && difference.getRhs() == low;
}

/// The table's elements in the middle, of a table that has one dimension and is the same in each turn.
bool Bisection::matchTable(mlir::Value element) {
  auto gather = unshaped(element).getDefiningOp<stablehlo::GatherOp>();
  if (!gather)
    return false;
  auto numbers = gather.getDimensionNumbers();
  table_ = gather.getOperand();
  ArrayRef<int64_t> shape = dimensionsOf(table_);
  return isOutside(table_) && shape.size() == 1 && shape[0] >= 1 && shape[0] <= kMaxBisectedElements &&
         numbers.getStartIndexMap() == ArrayRef<int64_t>{0} &&
         gather.getSliceSizes() == ArrayRef<int64_t>{1} && unshaped(gather.getStartIndices()) == middle_;
}

/// Whether a value belongs left of the middle.
bool Bisection::matchChoice(mlir::Value isLeft) {
  auto compare = isLeft.getDefiningOp<stablehlo::CompareOp>();
  if (!compare)
    return false;
  using Direction = stablehlo::ComparisonDirection;
  Direction direction = compare.getComparisonDirection();
  mlir::Value value = compare.getLhs(), element = compare.getRhs();
  if (direction == Direction::GT || direction == Direction::GE)
    std::swap(value, element);
  else if (direction != Direction::LT && direction != Direction::LE)
    return false;
  isStrict_ = direction == Direction::LT || direction == Direction::GT;
  Type type = getElementTypeOrSelf(value.getType());
  if (isa<FloatType>(type)) {
    if (compare.getCompareType() != stablehlo::ComparisonType::TOTALORDER)
      return false;
    value = withoutKinds(value);
    element = withoutKinds(element);
  }
  values_ = value;
  return value && element && hasKernel(type) && isOutside(value) && matchTable(element);
}

bool Bisection::matchHalves(unsigned low, unsigned high) {
  low_ = low;
  high_ = high;
  auto chosenLow = next(low).getDefiningOp<stablehlo::SelectOp>();
  auto chosenHigh = next(high).getDefiningOp<stablehlo::SelectOp>();
  if (!chosenLow || !chosenHigh || chosenLow.getPred() != chosenHigh.getPred())
    return false;
  middle_ = chosenHigh.getOnTrue();
  return chosenLow.getOnTrue() == body_.getArgument(low) && chosenLow.getOnFalse() == middle_ &&
         chosenHigh.getOnFalse() == body_.getArgument(high) && matchMiddle() &&
         matchChoice(chosenHigh.getPred());
}

bool Bisection::match() {
  if (loop_->getNumOperands() != 3 || !matchCount())
    return false;
  unsigned first = counter_ == 0 ? 1 : 0, second = counter_ == 2 ? 1 : 2;
  if (!matchHalves(first, second) && !matchHalves(second, first))
    return false;
  auto places = cast<RankedTensorType>(loop_->getResult(low_).getType());
  std::optional<int64_t> low = integerOf(loop_->getOperand(low_));
  std::optional<int64_t> high = integerOf(loop_->getOperand(high_));
  int64_t bits = places.getElementType().getIntOrFloatBitWidth();
  return places == loop_->getResult(high_).getType() && (bits == 32 || bits == 64) &&
         places.getShape() == dimensionsOf(values_) && low && high && *low >= 0 && *low <= *high &&
         *high <= dimensionsOf(table_)[0];
}

void Bisection::replace() {
  OpBuilder builder(loop_);
  for (unsigned index : {low_, high_}) {
    mlir::Value result = loop_->getResult(index);
    if (result.use_empty())
      continue;
    auto number = [&](StringRef name, int64_t value) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
    };
    auto call = createKernelCall(builder, loop_.getLoc(), "bisection", result.getType(), {table_, values_},
                                 {number("turns", turns_), number("low", *integerOf(loop_->getOperand(low_))),
                                  number("high", *integerOf(loop_->getOperand(high_))),
                                  builder.getNamedAttr("strict", builder.getBoolAttr(isStrict_)),
                                  builder.getNamedAttr("lowest", builder.getBoolAttr(index == low_))});
    result.replaceAllUsesWith(call->getResult(0));
  }
  loop_->erase();
}

} // namespace

int64_t fuseBisections(func::FuncOp function) {
  SmallVector<stablehlo::WhileOp> loops;
  function.walk([&](stablehlo::WhileOp loop) { loops.push_back(loop); });
  int64_t count = 0;
  for (stablehlo::WhileOp loop : loops)
    if (Bisection bisection(loop); bisection.match()) {
      bisection.replace();
      ++count;
    }
  return count;
}

} // namespace torchere::cpu
