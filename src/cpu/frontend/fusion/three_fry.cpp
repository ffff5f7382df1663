// Finds Threefry with 20 rounds, as JAX spells it out: its two words become one call on words of 64 bits.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

#include <array>

using namespace mlir;

namespace torchere::cpu {

namespace {

constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};

/// Integers are not near each other.
bool isNumber(mlir::Value value, uint32_t number) {
  return splatOf(value) == static_cast<double>(number);
}

/// The other operand of an op on the value and another one.
template <class Op> mlir::Value operandBeside(mlir::Value result, mlir::Value operand) {
  auto op = result.getDefiningOp<Op>();
  return !op                      ? mlir::Value()
         : op.getLhs() == operand ? op.getRhs()
         : op.getRhs() == operand ? op.getLhs()
                                  : mlir::Value();
}

/// Of a sum with what is repeated: the summands, the repeated one behind.
struct Sum {
  mlir::Value varying, repeated;
};
std::optional<Sum> sumWithRepeated(mlir::Value value) {
  auto sum = value.getDefiningOp<stablehlo::AddOp>();
  if (!sum)
    return std::nullopt;
  for (auto [a, b] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}})
    if (b.getDefiningOp<stablehlo::BroadcastInDimOp>())
      return Sum{a, b};
  return std::nullopt;
}

/// Goes through the rounds from the last to the first.
class Rounds {
public:
  /// From the second word of the result on.
  bool match(stablehlo::AddOp root);

  mlir::Value firstResult, secondResult;
  mlir::Value first, second;       ///< the counter's words
  std::array<mlir::Value, 3> keys; ///< repeated

private:
  bool key(uint32_t index, mlir::Value repeated) {
    mlir::Value &known = keys[index % 3];
    if (!known)
      known = repeated;
    return known == repeated;
  }
  bool undoRound(int rotation);
  bool undoKeys(uint32_t group);
  bool hasThirdKey() const;
};

/// first += second; second = rotated(second) ^ first
bool Rounds::undoRound(int rotation) {
  auto mixed = second.getDefiningOp<stablehlo::XorOp>();
  mlir::Value turned = mixed ? operandBeside<stablehlo::XorOp>(second, first) : mlir::Value();
  auto joined = turned ? turned.getDefiningOp<stablehlo::OrOp>() : stablehlo::OrOp();
  if (!joined)
    return false;
  for (auto [a, b] : {std::pair(joined.getLhs(), joined.getRhs()), {joined.getRhs(), joined.getLhs()}}) {
    auto left = a.getDefiningOp<stablehlo::ShiftLeftOp>();
    auto right = b.getDefiningOp<stablehlo::ShiftRightLogicalOp>();
    if (!left || !right || left.getLhs() != right.getLhs() ||
        !isNumber(left.getRhs(), static_cast<uint32_t>(rotation)) ||
        !isNumber(right.getRhs(), static_cast<uint32_t>(32 - rotation)))
      continue;
    second = left.getLhs();
    first = operandBeside<stablehlo::AddOp>(first, second);
    return static_cast<bool>(first);
  }
  return false;
}

/// first += key; second += key + number
bool Rounds::undoKeys(uint32_t group) {
  auto numbered = second.getDefiningOp<stablehlo::AddOp>();
  if (!numbered)
    return false;
  mlir::Value inner = isNumber(numbered.getRhs(), group)   ? numbered.getLhs()
                      : isNumber(numbered.getLhs(), group) ? numbered.getRhs()
                                                           : mlir::Value();
  std::optional<Sum> a = sumWithRepeated(first), b = inner ? sumWithRepeated(inner) : std::nullopt;
  if (!a || !b || !key(group, a->repeated) || !key(group + 1, b->repeated))
    return false;
  first = a->varying;
  second = b->varying;
  return true;
}

/// The third is made of the others, before they are repeated.
bool Rounds::hasThirdKey() const {
  auto sourceOf = [](mlir::Value repeated) {
    return repeated.getDefiningOp<stablehlo::BroadcastInDimOp>().getOperand();
  };
  auto dimensions = [](mlir::Value repeated) {
    return repeated.getDefiningOp<stablehlo::BroadcastInDimOp>().getBroadcastDimensions();
  };
  if (dimensions(keys[0]) != dimensions(keys[1]) || dimensions(keys[0]) != dimensions(keys[2]))
    return false;
  auto outer = sourceOf(keys[2]).getDefiningOp<stablehlo::XorOp>();
  if (!outer)
    return false;
  for (auto [inner, number] : {std::pair(outer.getLhs(), outer.getRhs()), {outer.getRhs(), outer.getLhs()}})
    if (isNumber(number, 0x1BD11BDA))
      return operandBeside<stablehlo::XorOp>(inner, sourceOf(keys[0])) == sourceOf(keys[1]);
  return false;
}

bool Rounds::match(stablehlo::AddOp root) {
  // The sum of the last keys: the first word is the one that reads what the second was mixed with.
  mlir::Value inner = isNumber(root.getRhs(), 5)   ? root.getLhs()
                      : isNumber(root.getLhs(), 5) ? root.getRhs()
                                                   : mlir::Value();
  std::optional<Sum> sum = inner ? sumWithRepeated(inner) : std::nullopt;
  auto mixed = sum ? sum->varying.getDefiningOp<stablehlo::XorOp>() : stablehlo::XorOp();
  if (!mixed)
    return false;
  secondResult = root->getResult(0);
  for (mlir::Value candidate : {mixed.getLhs(), mixed.getRhs()})
    for (Operation *user : candidate.getUsers()) {
      keys = {};
      firstResult = user->getNumResults() == 1 ? user->getResult(0) : mlir::Value();
      std::optional<Sum> other = firstResult ? sumWithRepeated(firstResult) : std::nullopt;
      if (!other || other->varying != candidate)
        continue;
      first = firstResult;
      second = secondResult;
      bool holds = true;
      for (uint32_t group = 5; holds && group >= 1; --group) {
        holds = undoKeys(group);
        for (int round = 3; holds && round >= 0; --round)
          holds = undoRound(rotations[(group - 1) % 2][round]);
      }
      std::optional<Sum> a = holds ? sumWithRepeated(first) : std::nullopt,
                         b = holds ? sumWithRepeated(second) : std::nullopt;
      if (!a || !b || !key(0, a->repeated) || !key(1, b->repeated) || !hasThirdKey())
        continue;
      first = a->varying;
      second = b->varying;
      return true;
    }
  return false;
}

/// Builds behind the last of the ops that it reads.
class Builder {
public:
  explicit Builder(Operation *before) : builder(before), location(before->getLoc()) {}

  /// first << 32 | second
  mlir::Value joined(mlir::Value first, mlir::Value second) {
    mlir::Value upper = converted(first, 64), lower = converted(second, 64);
    return stablehlo::OrOp::create(builder, location,
                                   stablehlo::ShiftLeftOp::create(builder, location, upper, splat(upper, 32)),
                                   lower)
        ->getResult(0);
  }
  mlir::Value converted(mlir::Value value, unsigned bits) {
    auto type = cast<RankedTensorType>(value.getType());
    Type element = IntegerType::get(value.getContext(), bits, IntegerType::Unsigned);
    return stablehlo::ConvertOp::create(builder, location, type.clone(element), value)->getResult(0);
  }
  mlir::Value upperHalf(mlir::Value value) {
    return converted(
        stablehlo::ShiftRightLogicalOp::create(builder, location, value, splat(value, 32))->getResult(0), 32);
  }
  mlir::Value repeated(mlir::Value value, stablehlo::BroadcastInDimOp like) {
    auto type = cast<RankedTensorType>(like.getType()).clone(getElementTypeOrSelf(value.getType()));
    return stablehlo::BroadcastInDimOp::create(builder, location, type, value, like.getBroadcastDimensions())
        ->getResult(0);
  }
  mlir::Value call(mlir::Value counter, mlir::Value key) {
    return createKernelCall(builder, location, "three_fry", counter.getType(), {counter, key})->getResult(0);
  }

private:
  mlir::Value splat(mlir::Value like, uint64_t number) {
    auto type = cast<RankedTensorType>(like.getType());
    APInt bits(64, number);
    return stablehlo::ConstantOp::create(builder, location, DenseElementsAttr::get(type, bits))->getResult(0);
  }

  OpBuilder builder;
  Location location;
};

/// The counter whose halves the words are, if there is one.
mlir::Value counterOf(mlir::Value first, mlir::Value second) {
  auto upper = first.getDefiningOp<stablehlo::ConvertOp>(),
       lower = second.getDefiningOp<stablehlo::ConvertOp>();
  auto shift = upper ? upper.getOperand().getDefiningOp<stablehlo::ShiftRightLogicalOp>()
                     : stablehlo::ShiftRightLogicalOp();
  bool isWhole = lower && shift && shift.getLhs() == lower.getOperand() && isNumber(shift.getRhs(), 32) &&
                 getElementTypeOrSelf(lower.getOperand().getType()).isUnsignedInteger(64);
  if (!isWhole)
    return {};
  // JAX counts in steps of 1.
  auto product = lower.getOperand().getDefiningOp<stablehlo::MulOp>();
  mlir::Value counted = !product                        ? mlir::Value()
                        : isNumber(product.getLhs(), 1) ? product.getRhs()
                        : isNumber(product.getRhs(), 1) ? product.getLhs()
                                                        : mlir::Value();
  return counted ? counted : lower.getOperand();
}

bool fuseRounds(stablehlo::AddOp root) {
  Rounds rounds;
  if (!getElementTypeOrSelf(root.getType()).isUnsignedInteger(32) || !rounds.match(root))
    return false;
  Operation *last = rounds.firstResult.getDefiningOp();
  if (last->getBlock() != root->getBlock())
    return false;
  Builder builder(last->isBeforeInBlock(root) ? last : root);
  auto repeated = [&](size_t i) { return rounds.keys[i].getDefiningOp<stablehlo::BroadcastInDimOp>(); };
  mlir::Value key = builder.joined(repeated(0).getOperand(), repeated(1).getOperand());
  mlir::Value counter = counterOf(rounds.first, rounds.second);
  if (!counter)
    counter = builder.joined(rounds.first, rounds.second);
  mlir::Value block = builder.call(counter, builder.repeated(key, repeated(0)));
  rounds.firstResult.replaceAllUsesWith(builder.upperHalf(block));
  rounds.secondResult.replaceAllUsesWith(builder.converted(block, 32));
  return true;
}

} // namespace

int64_t fuseThreeFry(func::FuncOp function) {
  int64_t count = 0;
  SmallVector<stablehlo::AddOp> sums;
  function.walk([&](stablehlo::AddOp sum) { sums.push_back(sum); });
  for (stablehlo::AddOp sum : sums)
    count += fuseRounds(sum);
  return count;
}

} // namespace torchere::cpu
