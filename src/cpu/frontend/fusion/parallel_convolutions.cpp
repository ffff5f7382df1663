// Joins convolutions of one input whose results are added: their sum is one convolution, by the sum of their
// weights. So models are run as they were trained that have several branches for that alone (RepVGG,
// MobileOne); a batch norm of the input itself is a branch as well.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/convolution_chain.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/splats.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <numeric>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// What is added: a convolution of the input, or the input itself, then factors and sums of channels.
struct Branch {
  Value input;
  stablehlo::ConvolutionOp convolution; ///< null for the input itself
  SmallVector<ConvolutionChain::ChannelStep> steps;
};

/// A convolution whose window may be put into that of another.
bool isPlain(stablehlo::ConvolutionOp op) {
  auto isStatic = [](Value value) { return cast<ShapedType>(value.getType()).hasStaticShape(); };
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
  return (element.isF32() || element.isF64()) && // of others each op rounds
         element == getElementTypeOrSelf(op.getLhs().getType()) &&
         element == getElementTypeOrSelf(op.getRhs().getType()) && isStatic(op.getLhs()) &&
         isStatic(op.getRhs()) && isStatic(op->getResult(0)) && op.getBatchGroupCount() == 1 &&
         isAll(op.getLhsDilation(), 1) && (!reversal || !llvm::is_contained(reversal.asArrayRef(), true));
}

/// Where a convolution's taps lie, by axis.
struct TapWindow {
  explicit TapWindow(stablehlo::ConvolutionOp op);
  /// The number of taps before those of `other`, by axis; none if its taps are not all among these.
  std::optional<SmallVector<int64_t>> placeOf(const TapWindow &other) const;
  int64_t count() const;
  /// Of the pixel itself: one tap, and no padding.
  TapWindow ofPixel() const;

  SmallVector<int64_t> taps, strides, dilations, low;
};

TapWindow::TapWindow(stablehlo::ConvolutionOp op) {
  ArrayRef<int64_t> kernel = cast<ShapedType>(op.getRhs().getType()).getShape();
  SmallVector<int64_t> padding = paddingOf(op);
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t axis) { return list ? (*list)[axis] : 1; };
  for (auto [axis, space] : llvm::enumerate(op.getDimensionNumbers().getKernelSpatialDimensions())) {
    taps.push_back(kernel[static_cast<size_t>(space)]);
    strides.push_back(at(op.getWindowStrides(), axis));
    dilations.push_back(at(op.getRhsDilation(), axis));
    low.push_back(padding[2 * axis]);
  }
}

TapWindow TapWindow::ofPixel() const {
  TapWindow pixel = *this;
  llvm::fill(pixel.taps, 1);
  llvm::fill(pixel.low, 0);
  return pixel;
}

int64_t TapWindow::count() const {
  return std::accumulate(taps.begin(), taps.end(), int64_t{1}, std::multiplies<>());
}

std::optional<SmallVector<int64_t>> TapWindow::placeOf(const TapWindow &other) const {
  SmallVector<int64_t> place;
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    int64_t distance = low[axis] - other.low[axis], before = distance / dilations[axis];
    bool isSame = strides[axis] == other.strides[axis] &&
                  (other.taps[axis] == 1 || other.dilations[axis] == dilations[axis]);
    if (!isSame || distance < 0 || distance % dilations[axis] != 0 || before + other.taps[axis] > taps[axis])
      return std::nullopt;
    place.push_back(before);
  }
  return place;
}

/// Branches that become one convolution, that with the largest window first.
class ParallelConvolutions {
public:
  explicit ParallelConvolutions(Branch first) : branches{std::move(first)} {}

  bool take(const Branch &branch);
  Value build(OpBuilder &builder) const;
  size_t size() const { return branches.size(); }

private:
  stablehlo::ConvolutionOp leader() const { return branches.front().convolution; }
  stablehlo::ConvolutionOp unchanged(OpBuilder &builder) const;
  Value widened(OpBuilder &builder, Value weights, stablehlo::ConvolutionOp from) const;
  Value ofGroups(OpBuilder &builder, Value weights) const;

  SmallVector<Branch> branches;
};

/// Each channel of itself alone, as where the input is added.
bool isOfSameChannels(stablehlo::ConvolutionOp op) {
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  auto size = [](Value value, int64_t dimension) {
    return cast<ShapedType>(value.getType()).getDimSize(static_cast<unsigned>(dimension));
  };
  return size(op.getLhs(), numbers.getInputFeatureDimension()) ==
         size(op->getResult(0), numbers.getOutputFeatureDimension());
}

bool ParallelConvolutions::take(const Branch &branch) {
  stablehlo::ConvolutionOp first = leader(), other = branch.convolution;
  stablehlo::ConvDimensionNumbersAttr numbers = first.getDimensionNumbers();
  if (branch.input != first.getLhs())
    return false;
  if (other) {
    if (other.getDimensionNumbers() != numbers ||
        other->getAttr("precision_config") != first->getAttr("precision_config") ||
        other.getFeatureGroupCount() != first.getFeatureGroupCount() ||
        !TapWindow(first).placeOf(TapWindow(other)))
      return false;
  } else {
    // A sum without factors stays exact: a residual is read by the kernel.
    bool isScaled =
        llvm::any_of(branch.steps, [](const ConvolutionChain::ChannelStep &step) { return step.scales(); });
    auto keepsOrder = numbers.getInputBatchDimension() == numbers.getOutputBatchDimension() &&
                      numbers.getInputFeatureDimension() == numbers.getOutputFeatureDimension() &&
                      numbers.getInputSpatialDimensions() == numbers.getOutputSpatialDimensions();
    if (!isScaled || !keepsOrder || !isOfSameChannels(first) ||
        !TapWindow(first).placeOf(TapWindow(first).ofPixel()))
      return false;
  }
  branches.push_back(branch);
  return true;
}

/// The input as a convolution with the leader's strides.
stablehlo::ConvolutionOp ParallelConvolutions::unchanged(OpBuilder &builder) const {
  stablehlo::ConvolutionOp first = leader();
  auto op = createUnchangedChannels(builder, cast<RankedTensorType>(first->getResult(0).getType()),
                                    first.getLhs(), first.getDimensionNumbers())
                .getDefiningOp<stablehlo::ConvolutionOp>();
  if (Attribute strides = first->getAttr("window_strides"))
    op->setAttr("window_strides", strides);
  return op;
}

/// Weights of a channel each (one for each group of one) as those of the leader's groups: zeros between
/// others.
Value ParallelConvolutions::ofGroups(OpBuilder &builder, Value weights) const {
  stablehlo::ConvDimensionNumbersAttr numbers = leader().getDimensionNumbers();
  auto from = cast<RankedTensorType>(weights.getType());
  SmallVector<int64_t> shape(from.getShape());
  auto inputs = static_cast<size_t>(numbers.getKernelInputFeatureDimension());
  shape[inputs] = cast<ShapedType>(leader().getRhs().getType()).getShape()[inputs];
  if (ArrayRef<int64_t>(shape) == from.getShape())
    return weights;
  Location location = weights.getLoc();
  RankedTensorType type = from.clone(shape), index = RankedTensorType::get(shape, builder.getI32Type());
  auto placeAlong = [&](int64_t dimension) -> Value {
    return stablehlo::IotaOp::create(builder, location, index, builder.getI64IntegerAttr(dimension))
        ->getResult(0);
  };
  auto count = DenseElementsAttr::get(index, builder.getI32IntegerAttr(static_cast<int32_t>(shape[inputs])));
  Value counts = stablehlo::ConstantOp::create(builder, location, index, count)->getResult(0);
  Value own = stablehlo::RemOp::create(builder, location,
                                       placeAlong(numbers.getKernelOutputFeatureDimension()), counts)
                  ->getResult(0);
  Value isOwn = stablehlo::CompareOp::create(builder, location, own,
                                             placeAlong(numbers.getKernelInputFeatureDimension()),
                                             stablehlo::ComparisonDirection::EQ)
                    ->getResult(0);
  SmallVector<int64_t> all(llvm::to_vector(llvm::seq<int64_t>(0, from.getRank())));
  Value spread =
      stablehlo::BroadcastInDimOp::create(builder, location, type, weights, builder.getDenseI64ArrayAttr(all))
          ->getResult(0);
  Value zeros = splatOf(builder, location, type, 0);
  return stablehlo::SelectOp::create(builder, location, isOwn, spread, zeros)->getResult(0);
}

/// Weights with zeros around them, as many as the leader's.
Value ParallelConvolutions::widened(OpBuilder &builder, Value weights, stablehlo::ConvolutionOp from) const {
  stablehlo::ConvolutionOp first = leader();
  auto type = cast<RankedTensorType>(first.getRhs().getType());
  SmallVector<int64_t> place = *TapWindow(first).placeOf(TapWindow(from));
  auto own = cast<RankedTensorType>(weights.getType());
  SmallVector<int64_t> low(static_cast<size_t>(type.getRank()), 0), high(low), none(low);
  for (auto [axis, space] : llvm::enumerate(first.getDimensionNumbers().getKernelSpatialDimensions())) {
    auto dimension = static_cast<size_t>(space);
    low[dimension] = place[axis];
    high[dimension] = type.getShape()[dimension] - own.getShape()[dimension] - place[axis];
  }
  if (own.getShape() == type.getShape())
    return weights;
  Value zero = splatOf(builder, weights.getLoc(), own.clone(ArrayRef<int64_t>()), 0);
  return stablehlo::PadOp::create(builder, weights.getLoc(), type, weights, zero,
                                  builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high),
                                  builder.getDenseI64ArrayAttr(none))
      ->getResult(0);
}

Value ParallelConvolutions::build(OpBuilder &builder) const {
  stablehlo::ConvolutionOp first = leader();
  auto sumOf = [&](Value sum, Value next) -> Value {
    if (!sum || !next)
      return sum ? sum : next;
    return stablehlo::AddOp::create(builder, first.getLoc(), sum, next)->getResult(0);
  };
  Value weights, bias;
  for (const Branch &branch : branches) {
    ConvolutionChain chain;
    chain.convolution = branch.convolution ? branch.convolution : unchanged(builder);
    chain.steps = branch.steps;
    FoldedChannels folded = foldChannels(builder, chain);
    weights = sumOf(weights, widened(builder, ofGroups(builder, folded.weights), chain.convolution));
    bias = sumOf(bias, folded.bias);
    if (!branch.convolution)
      chain.convolution.erase();
  }
  Operation *joined = builder.clone(*first);
  joined->setOperand(1, weights);
  Value result = joined->getResult(0);
  if (!bias)
    return result;
  int64_t channels = first.getDimensionNumbers().getOutputFeatureDimension();
  Value spread = stablehlo::BroadcastInDimOp::create(builder, first.getLoc(), result.getType(), bias,
                                                     builder.getDenseI64ArrayAttr({channels}))
                     ->getResult(0);
  return sumOf(result, spread);
}

/// The sums of a function.
class Sums {
public:
  explicit Sums(func::FuncOp function) : function(function) {}
  int64_t run();

private:
  void findBranches();
  SmallVector<Value> termsOf(stablehlo::AddOp sum) const;
  std::optional<Branch> inputBranch(Value term, stablehlo::ConvolutionOp beside);
  Value joinWith(const Branch &largest, SmallVector<Value> &terms, OpBuilder &builder);
  bool join(stablehlo::AddOp sum);

  func::FuncOp function;
  FixedValues fixed;
  llvm::DenseMap<Value, Branch> branches; ///< with a convolution, by the last value
};

/// What the only user makes of the value, if it is a step of channels.
std::optional<ConvolutionChain::ChannelStep> stepAfter(Value value, int64_t channels, FixedValues &fixed) {
  if (!value.hasOneUse())
    return std::nullopt;
  std::optional<ConvolutionChain::ChannelStep> step =
      channelStepOf(*value.getUsers().begin(), value, channels);
  return step && isFixed(step->operand->get(), fixed) ? step : std::nullopt;
}

void Sums::findBranches() {
  function.walk([&](stablehlo::ConvolutionOp op) {
    if (!isPlain(op) || !isFixed(op.getRhs(), fixed))
      return;
    Branch branch{op.getLhs(), op, {}};
    Value value = op->getResult(0);
    int64_t channels = op.getDimensionNumbers().getOutputFeatureDimension();
    while (std::optional<ConvolutionChain::ChannelStep> step = stepAfter(value, channels, fixed)) {
      branch.steps.push_back(*step);
      value = step->operand->getOwner()->getResult(0);
    }
    branches[value] = branch;
  });
}

/// The term as factors and sums of channels of what the convolution reads.
std::optional<Branch> Sums::inputBranch(Value term, stablehlo::ConvolutionOp beside) {
  Branch branch{beside.getLhs(), nullptr, {}};
  int64_t channels = beside.getDimensionNumbers().getOutputFeatureDimension();
  for (Value value = term; value != branch.input;) {
    Operation *op = value.hasOneUse() ? value.getDefiningOp() : nullptr;
    if (!op || op->getNumOperands() != 2)
      return std::nullopt;
    std::optional<ConvolutionChain::ChannelStep> step;
    for (Value operand : op->getOperands()) {
      step = channelStepOf(op, operand, channels);
      value = operand;
      if (step && isFixed(step->operand->get(), fixed))
        break;
      step.reset();
    }
    if (!step)
      return std::nullopt;
    branch.steps.insert(branch.steps.begin(), *step);
  }
  return branch;
}

/// What is added, in its order; a term that is a sum itself is one if it is used elsewhere, or is a branch.
SmallVector<Value> Sums::termsOf(stablehlo::AddOp sum) const {
  SmallVector<Value> terms, open{sum->getResult(0)};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    auto inner = value.getDefiningOp<stablehlo::AddOp>();
    bool isInner = inner && !branches.contains(value) && (inner == sum || value.hasOneUse());
    if (isInner)
      open.append({inner->getOperand(1), inner->getOperand(0)});
    else
      terms.push_back(value);
  }
  return terms;
}

/// Takes the terms that one convolution can be of with this one; its value, or null if there are none.
Value Sums::joinWith(const Branch &largest, SmallVector<Value> &terms, OpBuilder &builder) {
  ParallelConvolutions joined(largest);
  SmallVector<Value> others;
  for (Value term : terms) {
    auto known = branches.find(term);
    bool isKnown = known != branches.end();
    if (isKnown && known->second.convolution == largest.convolution)
      continue;
    std::optional<Branch> branch = isKnown ? known->second : inputBranch(term, largest.convolution);
    if (!branch || !term.hasOneUse() || !joined.take(*branch))
      others.push_back(term);
  }
  if (joined.size() == 1)
    return {};
  terms = others;
  return joined.build(builder);
}

bool Sums::join(stablehlo::AddOp sum) {
  SmallVector<Value> terms = termsOf(sum), joined;
  SmallVector<std::pair<Value, Branch>> found;
  for (Value term : terms)
    if (auto branch = branches.find(term); branch != branches.end() && term.hasOneUse())
      found.push_back({term, branch->second});
  llvm::stable_sort(found, [](const auto &a, const auto &b) {
    return TapWindow(a.second.convolution).count() > TapWindow(b.second.convolution).count();
  });
  OpBuilder builder(sum);
  for (const auto &[term, branch] : found)
    if (llvm::is_contained(terms, term))
      if (Value value = joinWith(branch, terms, builder))
        joined.push_back(value);
  if (joined.empty())
    return false;
  joined.append(terms);
  Value result = joined.front();
  for (Value next : llvm::drop_begin(joined))
    result = stablehlo::AddOp::create(builder, sum.getLoc(), result, next)->getResult(0);
  sum->getResult(0).replaceAllUsesWith(result);
  return true;
}

int64_t Sums::run() {
  findBranches();
  SmallVector<stablehlo::AddOp> sums;
  function.walk([&](stablehlo::AddOp op) {
    Value value = op->getResult(0);
    bool isTerm = value.hasOneUse() && isa<stablehlo::AddOp>(*value.getUsers().begin());
    if (!branches.empty() && !branches.contains(value) && !isTerm)
      sums.push_back(op);
  });
  return llvm::count_if(sums, [&](stablehlo::AddOp sum) { return join(sum); });
}

} // namespace

int64_t fuseParallelConvolutions(func::FuncOp function) {
  return Sums(function).run();
}

} // namespace torchere::cpu
