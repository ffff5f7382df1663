// Implements the finding of attention.
#include "cpu/frontend/fusion/attention_match.h"

#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/pattern.h"

#include <limits>
#include <utility>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Through a transpose, or a reshape that adds and drops sizes of 1. None through others.
std::optional<Labels> follow(const Labels &labels, Operation *op) {
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    Labels moved;
    for (int64_t dimension : transpose.getPermutation())
      moved.push_back(labels[static_cast<size_t>(dimension)]);
    return moved;
  }
  if (!isa<stablehlo::ReshapeOp>(op))
    return labels;
  Labels named, result;
  SmallVector<int64_t> before;
  for (auto [label, size] : llvm::zip_equal(labels, dimensionsOf(op->getOperand(0))))
    if (size != 1) {
      named.push_back(label);
      before.push_back(size);
    }
  size_t next = 0;
  for (int64_t size : dimensionsOf(op->getResult(0))) {
    if (size != 1 && (next == before.size() || before[next] != size))
      return std::nullopt;
    result.push_back(size == 1 ? -1 : named[next++]);
  }
  return result;
}

/// Whether the value is a product, scaled and with masks added.
bool leadsToDot(mlir::Value value, int depth = 6) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<stablehlo::AddOp>(op) && leadsToDot(op->getOperand(1), depth - 1))
    return true;
  bool mayBeScores =
      isRounding(op) || isa<stablehlo::AddOp, stablehlo::DivOp, stablehlo::MulOp, stablehlo::ReshapeOp,
                            stablehlo::TanhOp, stablehlo::TransposeOp>(op);
  return isa<stablehlo::DotGeneralOp>(op) || (mayBeScores && leadsToDot(op->getOperand(0), depth - 1));
}

/// reshape(reshape(x) + mask), where x has the result's shape, becomes x + reshape(mask): windows are taken
/// apart only for a mask of theirs. Null if it is another form, or only sizes of 1 come and go.
mlir::Value inOneShape(stablehlo::ReshapeOp outer) {
  auto sum = outer.getOperand().getDefiningOp<stablehlo::AddOp>();
  auto isLong = [](int64_t size) { return size != 1; };
  auto longSizesOf = [&](mlir::Value value) {
    return llvm::to_vector(llvm::make_filter_range(dimensionsOf(value), isLong));
  };
  if (!sum || !sum->hasOneUse() || longSizesOf(sum->getResult(0)) == longSizesOf(outer->getResult(0)))
    return {};
  for (unsigned i = 0; i < 2; ++i) {
    auto inner = sum->getOperand(i).getDefiningOp<stablehlo::ReshapeOp>();
    if (!inner || !inner->hasOneUse() || inner.getOperand().getType() != outer->getResult(0).getType())
      continue;
    OpBuilder builder(outer);
    mlir::Value mask = stablehlo::ReshapeOp::create(builder, sum.getLoc(), outer->getResult(0).getType(),
                                                    sum->getOperand(1 - i));
    mlir::Value made = stablehlo::AddOp::create(builder, sum.getLoc(), inner.getOperand(), mask);
    outer->getResult(0).replaceAllUsesWith(made);
    for (Operation *op : {outer.getOperation(), sum.getOperation(), inner.getOperation()})
      op->erase();
    return made;
  }
  return {};
}

/// The score of a key that a mask leaves out, if `number` is one. Of f16 that is the least finite number,
/// which is not so low that it hides a score that it is added to.
std::optional<double> hiddenScore(std::optional<double> number, mlir::Value like) {
  bool isLeastHalf = getElementTypeOrSelf(like.getType()).isF16() && number == -65504.0;
  if (isLeastHalf)
    return std::numeric_limits<float>::lowest();
  return number && *number <= -1e30 ? number : std::nullopt;
}

/// The ops from the first product to softmax, from the last one back.
bool collectScores(mlir::Value value, SmallVectorImpl<Operation *> &chain, AttentionMatch &match) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasOneUse() || chain.size() > 14)
      return false;
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
      match.first = dot;
      return true;
    }
    if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
      if (mlir::Value sum = inOneShape(reshape)) {
        value = sum;
        continue;
      }
    chain.push_back(op);
    if (isa<stablehlo::TransposeOp, stablehlo::ReshapeOp>(op) || isRounding(op)) {
      value = op->getOperand(0);
    } else if (isa<stablehlo::TanhOp>(op) && match.bound == 0 && match.scale != 0 && !match.factor) {
      match.bound = std::exchange(match.scale, 1);
      value = op->getOperand(0);
    } else if (auto quotient = dyn_cast<stablehlo::DivOp>(op); quotient && splatOf(quotient.getRhs())) {
      match.scale /= *splatOf(quotient.getRhs());
      value = quotient.getLhs();
    } else if (auto product = dyn_cast<stablehlo::MulOp>(op)) {
      auto isFactor = [](mlir::Value each) {
        return splatOf(each) || each.getDefiningOp<stablehlo::BroadcastInDimOp>();
      };
      bool isRight = isFactor(product.getRhs());
      mlir::Value factor = isRight ? product.getRhs() : product.getLhs();
      if (std::optional<double> number = splatOf(factor))
        match.scale *= *number;
      else if (isFactor(factor) && !match.factor)
        match.factor = {op, factor, {}};
      else
        return false;
      value = isRight ? product.getLhs() : product.getRhs();
    } else if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
      match.isInverted = splatOf(select.getOnTrue()).has_value();
      mlir::Value score = match.isInverted ? select.getOnTrue() : select.getOnFalse();
      std::optional<double> masked = hiddenScore(splatOf(score), score);
      if (!match.masks.empty() || match.isScaled() || !masked || dimensionsOf(select.getPred()).empty())
        return false;
      match.masks.push_back({op, select.getPred(), {}});
      match.masked = *masked;
      match.isBoolean = true;
      value = match.isInverted ? select.getOnFalse() : select.getOnTrue();
    } else if (auto sum = dyn_cast<stablehlo::AddOp>(op)) {
      if (match.isBoolean || match.isScaled())
        return false;
      bool isLeft = leadsToDot(sum.getLhs()); // the scores are what comes from a product
      value = isLeft ? sum.getLhs() : sum.getRhs();
      match.masks.push_back({op, isLeft ? sum.getRhs() : sum.getLhs(), {}});
    } else {
      return false;
    }
  }
  return false;
}

/// The labels of the softmax's dimensions; those of the mask on the way.
std::optional<Labels> labelScores(ArrayRef<Operation *> chain, AttentionMatch &match) {
  Labels labels;
  for (auto [i, size] : llvm::enumerate(dimensionsOf(match.first->getResult(0))))
    labels.push_back(size == 1 ? -1 : static_cast<int64_t>(i));
  for (Operation *op : llvm::reverse(chain)) {
    std::optional<Labels> next = follow(labels, op);
    if (!next)
      return std::nullopt;
    labels = *next;
    for (AttentionMask &mask : match.masks)
      if (mask.op == op)
        mask.labels = labels;
    if (match.factor && match.factor->op == op)
      match.factor->labels = labels;
  }
  return labels;
}

/// From softmax to the second product.
bool findSecond(Labels labels, AttentionMatch &match) {
  mlir::Value value = match.softmax->getResult(0);
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(user)) {
      match.second = dot;
      match.weightsAreLeft = dot.getLhs() == value;
      match.weightLabels = labels;
      return dot->getBlock() == match.first->getBlock();
    }
    if (!isa<stablehlo::TransposeOp, stablehlo::ReshapeOp>(user) && !isRounding(user))
      return false;
    std::optional<Labels> next = follow(labels, user);
    if (!next)
      return false;
    labels = *next;
    value = user->getResult(0);
  }
  return false;
}

} // namespace

std::optional<AttentionMatch> matchAttention(Operation *softmax) {
  AttentionMatch match;
  match.softmax = softmax;
  bool isLogarithm = kernelFlag(softmax, "logarithm");
  int64_t columns = rowLengthOf(softmax);
  ArrayRef<int64_t> shape = dimensionsOf(softmax->getResult(0));
  auto type = cast<RankedTensorType>(softmax->getResult(0).getType());
  if (isLogarithm || columns < 2 || shape.back() != columns || type.getNumElements() == 0)
    return std::nullopt;
  SmallVector<Operation *> chain;
  if (!collectScores(softmax->getOperand(0), chain, match))
    return std::nullopt;
  std::optional<Labels> labels = labelScores(chain, match);
  if (!labels || !findSecond(*labels, match))
    return std::nullopt;
  // Softmax is over the keys.
  size_t batch = match.first.getDotDimensionNumbers().getLhsBatchingDimensions().size();
  size_t left = dimensionsOf(match.first.getLhs()).size() -
                match.first.getDotDimensionNumbers().getLhsContractingDimensions().size();
  auto keyLabel = static_cast<size_t>(labels->back());
  if (keyLabel < batch || match.second->getResult(0).use_empty())
    return std::nullopt;
  match.keysAreRight = keyLabel >= left;
  if (cast<RankedTensorType>(match.second->getResult(0).getType()).getNumElements() == 0 ||
      cast<RankedTensorType>(match.first.getLhs().getType()).getNumElements() == 0)
    return std::nullopt;
  return match;
}

} // namespace torchere::cpu
