// Finds the ops after a convolution that its kernel can compute, and folds channels' factors and sums.
#include "cpu/frontend/fusion/convolution_chain.h"

#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/frontend/fusion/splats.h"
#include "cpu/frontend/fusion/weight_gradient.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace torchere::cpu {

namespace {

using ChannelOp = ConvolutionChain::ChannelOp;

/// Values further from the arguments than this are not followed.
constexpr int maxFixedDepth = 24;

/// Whether all sizes but that of the dimension are 1.
bool isVectorAlong(ArrayRef<int64_t> shape, int64_t dimension) {
  for (auto [i, size] : llvm::enumerate(shape))
    if (static_cast<int64_t>(i) != dimension && size != 1)
      return false;
  return true;
}

} // namespace

bool isFixed(Value value, FixedValues &fixed, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<FunctionOpInterface>(value.getParentRegion()->getParentOp());
  if (isa<stablehlo::ConstantOp>(op))
    return true;
  if (auto known = fixed.find(value); known != fixed.end())
    return known->second;
  bool isCheap =
      isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp, stablehlo::DivOp, stablehlo::RsqrtOp,
          stablehlo::SqrtOp, stablehlo::NegOp, stablehlo::RemOp, stablehlo::CompareOp, stablehlo::SelectOp,
          stablehlo::IotaOp, stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp, stablehlo::TransposeOp,
          stablehlo::SliceOp, stablehlo::PadOp, stablehlo::ConvertOp>(op);
  bool result =
      isCheap && depth < maxFixedDepth &&
      llvm::all_of(op->getOperands(), [&](Value operand) { return isFixed(operand, fixed, depth + 1); });
  fixed[value] = result;
  return result;
}

bool isOfChannels(Value value, int64_t dimension) {
  if (splatNumber(value) || isVectorAlong(dimensionsOf(value), dimension))
    return true;
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast)
    return false;
  for (auto [size, to] :
       llvm::zip_equal(dimensionsOf(broadcast.getOperand()), broadcast.getBroadcastDimensions()))
    if (size != 1 && to != dimension)
      return false;
  return true;
}

PlanarOrder transposedOrder(PlanarOrder order, ArrayRef<int64_t> permutation) {
  for (int64_t &dimension : order)
    if (dimension >= 0)
      dimension = llvm::find(permutation, dimension) - permutation.begin();
  return order;
}

static Value reshapedTo(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getShape() == shape
             ? value
             : stablehlo::ReshapeOp::create(builder, value.getLoc(), type.clone(shape), value)->getResult(0);
}

Value channelVectorOf(OpBuilder &builder, Value value, int64_t dimension) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t channels = type.getDimSize(static_cast<unsigned>(dimension));
  RankedTensorType vector = type.clone({channels});
  if (std::optional<double> number = splatNumber(value))
    return splatOf(builder, value.getLoc(), vector, *number);
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast)
    return reshapedTo(builder, value, {channels});
  Value source = broadcast.getOperand();
  if (cast<RankedTensorType>(source.getType()).getNumElements() == channels)
    return reshapedTo(builder, source, {channels});
  return stablehlo::BroadcastInDimOp::create(builder, value.getLoc(), vector, reshapedTo(builder, source, {}),
                                             builder.getDenseI64ArrayAttr({}))
      ->getResult(0);
}

namespace {

/// Follows a value from op to op.
class ChainFinder {
public:
  ChainFinder(ConvolutionChain &chain, llvm::DenseSet<Operation *> &taken, FixedValues &fixed)
      : chain(chain), taken(taken), fixed(fixed), value(chain.convolution->getResult(0)) {}
  void find();

private:
  bool takeActivation();
  bool takeSlopes();
  void takeLast();
  Operation *nextOp() const;
  bool takeChannelStep(Operation *op);
  bool takeLastStep(Operation *op);
  bool takeResidual(Operation *op);
  bool takeTranspose(Operation *op);
  void take(Operation *op) {
    taken.insert(op);
    chain.end = op;
    value = op->getResult(0);
  }
  bool activate(Activation activation, ArrayRef<Operation *> ops);

  ConvolutionChain &chain;
  llvm::DenseSet<Operation *> &taken;
  FixedValues &fixed;
  Value value;
};

/// The only op that uses the value.
Operation *onlyUser(Value value) {
  return value.hasOneUse() ? *value.getUsers().begin() : nullptr;
}

bool isAbout(std::optional<double> number, double expected) {
  return number && std::abs(*number - expected) <= 1e-6 * std::abs(expected);
}

/// Of an op of two operands, one of which is the given value.
OpOperand &otherUse(Operation *op, Value value) {
  return op->getOpOperand(op->getOperand(0) == value ? 1 : 0);
}

Value otherOperand(Operation *op, Value value) {
  return otherUse(op, value).get();
}

/// The op of the type that alone uses the value, with a constant beside it.
template <class Op> Operation *userWith(Value value, double number) {
  auto op = dyn_cast_or_null<Op>(onlyUser(value));
  return op && isAbout(splatNumber(otherOperand(op, value)), number) ? op.getOperation() : nullptr;
}

/// The ops that bound a value to [0, 6], the last one last; none if what uses it does something else.
SmallVector<Operation *> boundedToSix(Value value) {
  Operation *user = onlyUser(value);
  if (auto clamp = dyn_cast_or_null<stablehlo::ClampOp>(user)) {
    bool fits = clamp->getOperand(1) == value && splatNumber(clamp->getOperand(0)) == 0.0 &&
                splatNumber(clamp->getOperand(2)) == 6.0;
    return fits ? SmallVector<Operation *>{clamp} : SmallVector<Operation *>();
  }
  if (Operation *low = userWith<stablehlo::MaxOp>(value, 0)) {
    if (Operation *high = userWith<stablehlo::MinOp>(low->getResult(0), 6))
      return {low, high};
  } else if (Operation *high = userWith<stablehlo::MinOp>(value, 6)) {
    if (Operation *last = userWith<stablehlo::MaxOp>(high->getResult(0), 0))
      return {high, last};
  }
  return {};
}

/// A sixth of a value: the op that alone uses it.
Operation *sixthOf(Value value) {
  auto quotient = dyn_cast_or_null<stablehlo::DivOp>(onlyUser(value));
  if (quotient && quotient.getLhs() == value && splatNumber(quotient.getRhs()) == 6.0)
    return quotient;
  return userWith<stablehlo::MulOp>(value, 1.0 / 6);
}

/// relu6(value + 3) from its sum on.
SmallVector<Operation *> boundedSum(Operation *sum, Value value) {
  if (!isa<stablehlo::AddOp>(sum) || !isAbout(splatNumber(otherOperand(sum, value)), 3))
    return {};
  SmallVector<Operation *> bounded = boundedToSix(sum->getResult(0));
  if (!bounded.empty())
    bounded.insert(bounded.begin(), sum);
  return bounded;
}

/// The product of `value` and `factor` if it alone uses the factor.
Operation *productWith(Value factor, Value value) {
  auto product = dyn_cast_or_null<stablehlo::MulOp>(onlyUser(factor));
  return product && otherOperand(product, factor) == value ? product.getOperation() : nullptr;
}

bool ChainFinder::activate(Activation activation, ArrayRef<Operation *> ops) {
  if (llvm::any_of(ops, [&](Operation *op) {
        return !op || taken.contains(op) || op->getBlock() != chain.convolution->getBlock();
      }))
    return false;
  for (Operation *op : ops)
    take(op);
  chain.activation = activation;
  return true;
}

/// Of an activation by its name among kernel calls.
Activation activationOfCall(Operation *op) {
  if (isKernelCall(op, "silu"))
    return Activation::Silu;
  if (isKernelCall(op, "gelu"))
    return Activation::Gelu;
  if (isKernelCall(op, "gelu_tanh"))
    return Activation::GeluTanh;
  return Activation::None;
}

bool ChainFinder::takeActivation() {
  if (llvm::hasNItems(value.getUses(), 2)) { // x * sigmoid(x), x * hardsigmoid(x)
    for (Operation *user : value.getUsers()) {
      if (isa<stablehlo::LogisticOp>(user))
        if (Operation *product = productWith(user->getResult(0), value))
          return activate(Activation::Silu, {user, product});
      SmallVector<Operation *> bounded = boundedSum(user, value);
      if (bounded.empty())
        continue;
      Value six = bounded.back()->getResult(0);
      if (Operation *sixth = sixthOf(six)) {
        bounded.push_back(sixth);
        bounded.push_back(productWith(sixth->getResult(0), value));
      } else if (Operation *product = productWith(six, value)) {
        bounded.push_back(product);
        bounded.push_back(sixthOf(product->getResult(0)));
      } else {
        continue;
      }
      return activate(Activation::HardSwish, bounded);
    }
    return false;
  }
  Operation *user = onlyUser(value);
  if (!user)
    return false;
  if (SmallVector<Operation *> bounded = boundedToSix(value); !bounded.empty())
    return activate(Activation::Relu6, bounded);
  if (SmallVector<Operation *> bounded = boundedSum(user, value); !bounded.empty()) {
    bounded.push_back(sixthOf(bounded.back()->getResult(0)));
    return activate(Activation::HardSigmoid, bounded);
  }
  if (Operation *relu = userWith<stablehlo::MaxOp>(value, 0))
    return activate(Activation::Relu, relu);
  if (isa<stablehlo::LogisticOp>(user))
    return activate(Activation::Sigmoid, user);
  if (isa<stablehlo::TanhOp>(user))
    return activate(Activation::Tanh, user);
  Activation called = activationOfCall(user);
  return called != Activation::None && activate(called, user);
}

/// select(x > 0, x, x * slope), as the leaky ReLU and PReLU are written, or with x >= 0, which only slopes
/// below zero could tell apart.
bool ChainFinder::takeSlopes() {
  using Direction = stablehlo::ComparisonDirection;
  if (!llvm::hasNItems(value.getUses(), 3))
    return false;
  auto isChoice = [](Operation *user) { return isa<stablehlo::SelectOp>(user); };
  auto choice = llvm::find_if(value.getUsers(), isChoice);
  if (choice == value.user_end() || choice->getOperand(1) != value)
    return false;
  auto comparison = choice->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  auto product = choice->getOperand(2).getDefiningOp<stablehlo::MulOp>();
  if (!comparison || !product || !comparison->hasOneUse() || !product->hasOneUse() ||
      comparison.getLhs() != value || splatNumber(comparison.getRhs()) != 0.0 ||
      !llvm::is_contained(product->getOperands(), value))
    return false;
  std::optional<ConvolutionChain::ChannelStep> slopes = channelStepOf(product, value, chain.order[1]);
  if (!slopes || !isFixed(slopes->operand->get(), fixed))
    return false;
  Direction direction = comparison.getComparisonDirection();
  bool isAbove = direction == Direction::GT ||
                 (direction == Direction::GE && splatNumber(slopes->operand->get()).value_or(-1) >= 0);
  if (!isAbove || !activate(Activation::None, {comparison, product, *choice}))
    return false;
  chain.slopes = slopes;
  return true;
}

/// A factor is folded into the weights; a sum needs no weights.
bool ChainFinder::takeChannelStep(Operation *op) {
  std::optional<ConvolutionChain::ChannelStep> step = channelStepOf(op, value, chain.order[1]);
  if (!step || (step->scales() &&
                (!isFixed(step->operand->get(), fixed) || !isFixed(chain.convolution.getRhs(), fixed))))
    return false;
  chain.steps.push_back(*step);
  take(op);
  return true;
}

bool ChainFinder::takeResidual(Operation *op) {
  if (!isa<stablehlo::AddOp>(op))
    return false;
  chain.residual = &otherUse(op, value);
  chain.residualOrder = chain.order;
  take(op);
  return true;
}

bool ChainFinder::takeTranspose(Operation *op) {
  auto transpose = dyn_cast<stablehlo::TransposeOp>(op);
  if (!transpose)
    return false;
  chain.order = transposedOrder(chain.order, transpose.getPermutation());
  take(op);
  return true;
}

bool ChainFinder::takeLastStep(Operation *op) {
  std::optional<ConvolutionChain::ChannelStep> step = channelStepOf(op, value, chain.order[1]);
  if (!step || (step->scales() && !isFixed(step->operand->get(), fixed)))
    return false;
  chain.lastSteps.push_back(*step);
  take(op);
  return true;
}

/// The op that alone uses the value, if no other chain has it.
Operation *ChainFinder::nextOp() const {
  Operation *op = onlyUser(value);
  bool isFree = op && !taken.contains(op) && op->getBlock() == chain.convolution->getBlock() &&
                op->getNumResults() == 1;
  return isFree ? op : nullptr;
}

/// What follows the activation.
void ChainFinder::takeLast() {
  while (Operation *op = nextOp()) {
    if (takeTranspose(op))
      continue;
    if (op->getResult(0).getType() != value.getType() || chain.addsResidualLast)
      return;
    if (takeLastStep(op))
      continue;
    // What is repeated, a vector program reads where it lies.
    bool isRepeated = isa<stablehlo::AddOp>(op) &&
                      isa_and_nonnull<stablehlo::BroadcastInDimOp>(otherOperand(op, value).getDefiningOp());
    if (chain.residual || isRepeated || !takeResidual(op))
      return;
    chain.addsResidualLast = true;
  }
}

void ChainFinder::find() {
  chain.end = chain.convolution;
  taken.insert(chain.convolution);
  while (!takeActivation() && !takeSlopes()) {
    Operation *op = nextOp();
    if (op && takeTranspose(op))
      continue;
    if (!op || op->getResult(0).getType() != value.getType() || chain.residual ||
        (!takeChannelStep(op) && !takeResidual(op)))
      return;
  }
  takeLast();
}

Value productOf(OpBuilder &builder, Value a, Value b) {
  return stablehlo::MulOp::create(builder, a.getLoc(), a, b)->getResult(0);
}

/// The weights, each output channel's multiplied by its factor.
Value scaledWeights(OpBuilder &builder, stablehlo::ConvolutionOp convolution, Value factors) {
  Value weights = convolution.getRhs();
  int64_t dimension = convolution.getDimensionNumbers().getKernelOutputFeatureDimension();
  Value spread = stablehlo::BroadcastInDimOp::create(builder, convolution.getLoc(), weights.getType(),
                                                     factors, builder.getDenseI64ArrayAttr({dimension}))
                     ->getResult(0);
  return splatNumber(weights) == 1.0 ? spread : productOf(builder, weights, spread);
}

} // namespace

std::optional<ConvolutionChain::ChannelStep> channelStepOf(Operation *op, Value value,
                                                           int64_t channelDimension) {
  if (op->getNumOperands() != 2)
    return std::nullopt;
  OpOperand &other = otherUse(op, value);
  bool isFirst = other.getOperandNumber() == 1;
  std::optional<ChannelOp> kind;
  if (isa<stablehlo::AddOp>(op))
    kind = ChannelOp::Add;
  else if (isa<stablehlo::MulOp>(op))
    kind = ChannelOp::Multiply;
  else if (isa<stablehlo::SubtractOp>(op))
    kind = isFirst ? ChannelOp::Subtract : ChannelOp::SubtractFrom;
  else if (isa<stablehlo::DivOp>(op) && isFirst)
    kind = ChannelOp::Divide;
  if (!kind || !isOfChannels(other.get(), channelDimension))
    return std::nullopt;
  return ConvolutionChain::ChannelStep{*kind, &other, channelDimension};
}

ConvolutionChains::ConvolutionChains(func::FuncOp function) {
  function.walk([&](stablehlo::ConvolutionOp op) {
    if (weightGradientOf(op))
      return;
    if (std::optional<ConvolutionCall> call = convolutionCallOf(op)) {
      calls[op] = *call;
      taken.insert(op);
    }
  });
  FixedValues fixed;
  function.walk([&](stablehlo::ConvolutionOp op) {
    auto call = calls.find(op);
    if (call == calls.end())
      return;
    ConvolutionChain chain;
    chain.convolution = op;
    chain.order = call->second.outputOrder;
    ChainFinder(chain, taken, fixed).find();
    chains[chain.end] = chain;
  });
}

namespace {

/// Factors and a sum of channels; null for none.
struct ChannelVectors {
  Value factors, sum;
};

/// All the steps as one factor and then one sum.
ChannelVectors foldSteps(OpBuilder &builder, Location location,
                         ArrayRef<ConvolutionChain::ChannelStep> steps) {
  Value factors, sum;
  for (const ConvolutionChain::ChannelStep &step : steps) {
    Value vector = channelVectorOf(builder, step.operand->get(), step.channelDimension);
    auto type = cast<RankedTensorType>(vector.getType());
    switch (step.op) {
    case ChannelOp::Add:
      sum = sum ? stablehlo::AddOp::create(builder, location, sum, vector)->getResult(0) : vector;
      break;
    case ChannelOp::Subtract:
      sum = sum ? stablehlo::SubtractOp::create(builder, location, sum, vector)->getResult(0)
                : stablehlo::NegOp::create(builder, location, vector)->getResult(0);
      break;
    case ChannelOp::SubtractFrom:
      sum = sum ? stablehlo::SubtractOp::create(builder, location, vector, sum)->getResult(0) : vector;
      factors = factors ? stablehlo::NegOp::create(builder, location, factors)->getResult(0)
                        : splatOf(builder, location, type, -1);
      break;
    case ChannelOp::Multiply:
      sum = sum ? productOf(builder, sum, vector) : sum;
      factors = factors ? productOf(builder, factors, vector) : vector;
      break;
    case ChannelOp::Divide:
      sum = sum ? stablehlo::DivOp::create(builder, location, sum, vector)->getResult(0) : sum;
      factors = stablehlo::DivOp::create(builder, location,
                                         factors ? factors : splatOf(builder, location, type, 1), vector)
                    ->getResult(0);
      break;
    }
  }
  return {factors, sum};
}

} // namespace

FoldedChannels foldChannels(OpBuilder &builder, const ConvolutionChain &chain) {
  stablehlo::ConvolutionOp convolution = chain.convolution;
  Location location = convolution.getLoc();
  auto [factors, sum] = foldSteps(builder, location, chain.steps);
  FoldedChannels folded;
  folded.weights = factors ? scaledWeights(builder, convolution, factors) : convolution.getRhs();
  folded.bias = sum;
  if (chain.slopes)
    folded.slopes = channelVectorOf(builder, chain.slopes->operand->get(), chain.slopes->channelDimension);
  auto [last, shifts] = foldSteps(builder, location, chain.lastSteps);
  if (Value either = last ? last : shifts) {
    auto type = cast<RankedTensorType>(either.getType());
    folded.factors = last ? last : splatOf(builder, location, type, 1);
    folded.shifts = shifts ? shifts : splatOf(builder, location, type, 0);
  }
  return folded;
}

} // namespace torchere::cpu
