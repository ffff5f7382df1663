// Finds layer norm and RMS norm over the last dimensions, with what scales and shifts them.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

struct NormMatch {
  mlir::Value x;
  RowShape rows;
  bool subtractsMean = false;
  double epsilon = 0;
  mlir::Value scale, bias;
};

template <class Op> std::array<std::pair<mlir::Value, mlir::Value>, 2> bothOrders(Op op) {
  return {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())};
}

/// x, where the value is x less the mean of its rows.
mlir::Value centered(mlir::Value value, RowShape rows, Subgraph &subgraph) {
  auto difference = subgraph.take<stablehlo::SubtractOp>(value);
  mlir::Value row = difference ? rowsOf(difference.getRhs(), rows, subgraph) : mlir::Value();
  RowShape shape;
  if (!row || averagedRows(row, shape, subgraph) != difference.getLhs() || shape.trailing != rows.trailing)
    return {};
  return difference.getLhs();
}

/// The mean of the squares less the square of the mean, maybe not below 0: of x.
mlir::Value varianceByMoments(mlir::Value value, RowShape &rows, Subgraph &subgraph) {
  value = withoutReshapes(value, subgraph);
  if (auto bounded = subgraph.take<stablehlo::MaxOp>(value))
    value = isSplat(bounded.getRhs(), 0)   ? bounded.getLhs()
            : isSplat(bounded.getLhs(), 0) ? bounded.getRhs()
                                           : value;
  auto difference = subgraph.take<stablehlo::SubtractOp>(withoutReshapes(value, subgraph));
  if (!difference)
    return {};
  mlir::Value squares = averagedRows(difference.getLhs(), rows, subgraph);
  mlir::Value x = squares ? squared(squares, subgraph) : mlir::Value();
  mlir::Value mean = squared(withoutReshapes(difference.getRhs(), subgraph), subgraph);
  RowShape shape;
  if (!x || !mean || averagedRows(mean, shape, subgraph) != x || shape.trailing != rows.trailing)
    return {};
  return x;
}

/// 1 / sqrt(variance + epsilon) by rows, of what `value` is normalized by. `isRoot`: its reciprocal.
bool matchDeviation(mlir::Value value, mlir::Value normalized, bool isRoot, NormMatch &match,
                    Subgraph &subgraph) {
  mlir::Value argument;
  value = withoutReshapes(value, subgraph);
  if (isRoot) {
    auto root = subgraph.take<stablehlo::SqrtOp>(value);
    argument = root ? root.getOperand() : mlir::Value();
  } else {
    auto root = subgraph.take<stablehlo::RsqrtOp>(value);
    argument = root ? root.getOperand() : mlir::Value();
  }
  if (!argument)
    return false;
  auto sum = subgraph.take<stablehlo::AddOp>(withoutReshapes(argument, subgraph));
  if (!sum)
    return false;
  for (auto [variance, epsilon] : bothOrders(sum)) {
    std::optional<double> number = splatOf(epsilon);
    if (!number)
      continue;
    match.epsilon = *number;
    Subgraph before = subgraph;
    mlir::Value squares = averagedRows(variance, match.rows, subgraph);
    mlir::Value term = squares ? squared(squares, subgraph) : mlir::Value();
    if (term && term == normalized) {
      match.x = normalized;
      return true;
    }
    // The same but for the shapes that the means went through, of sizes that are not known to be equal.
    mlir::Value x = term ? centered(term, match.rows, subgraph) : mlir::Value();
    if (x && x == centered(normalized, match.rows, subgraph)) {
      match.x = x;
      match.subtractsMean = true;
      return true;
    }
    subgraph = before;
    x = varianceByMoments(variance, match.rows, subgraph);
    if (x && centered(normalized, match.rows, subgraph) == x) {
      match.x = x;
      match.subtractsMean = true;
      return true;
    }
    subgraph = before;
  }
  return false;
}

/// Of any count of trailing dimensions, which the reduction tells.
bool matchFactor(mlir::Value factor, mlir::Value normalized, bool isRoot, NormMatch &match,
                 Subgraph &subgraph) {
  auto rank = cast<RankedTensorType>(factor.getType()).getRank();
  for (int64_t trailing = 1; trailing <= rank; ++trailing) {
    Subgraph tried = subgraph;
    mlir::Value rows = rowsOf(factor, {trailing, 0}, tried);
    if (rows && matchDeviation(rows, normalized, isRoot, match, tried) && match.rows.trailing == trailing) {
      subgraph = tried;
      return true;
    }
  }
  return false;
}

/// The normalization itself; the scale may come with the factor, or with what is normalized.
bool matchCore(Operation *op, NormMatch &match, Subgraph &subgraph) {
  if (auto quotient = dyn_cast<stablehlo::DivOp>(op))
    return matchFactor(quotient.getRhs(), quotient.getLhs(), true, match, subgraph);
  auto product = dyn_cast<stablehlo::MulOp>(op);
  if (!product)
    return false;
  for (auto [normalized, factor] : bothOrders(product)) {
    if (matchFactor(factor, normalized, false, match, subgraph))
      return true;
    for (auto [scaled, other] : {std::pair(factor, normalized), std::pair(normalized, factor)}) {
      auto inner = scaled.getDefiningOp<stablehlo::MulOp>();
      if (!inner)
        continue;
      for (auto [rest, scale] : bothOrders(inner)) {
        Subgraph tried = subgraph;
        tried.add(inner);
        bool isFactor = scaled == factor;
        if (!matchFactor(isFactor ? rest : other, isFactor ? other : rest, false, match, tried))
          continue;
        match.scale = columnsOf(scale, match.rows, tried);
        if (!match.scale)
          continue;
        subgraph = tried;
        return true;
      }
    }
  }
  return false;
}

/// The only user, if it is such an op, with its other operand.
template <class Op> std::pair<Op, mlir::Value> onlyUser(Operation *op) {
  auto user = op->hasOneUse() ? dyn_cast<Op>(*op->user_begin()) : Op();
  if (!user)
    return {};
  return {user, user.getLhs() == op->getResult(0) ? user.getRhs() : user.getLhs()};
}

/// Follows the scale and the shift; the last op of all.
Operation *matchAffine(Operation *root, NormMatch &match) {
  Subgraph broadcasts; // which others may use too
  if (auto [product, factor] = onlyUser<stablehlo::MulOp>(root); product && !match.scale)
    if ((match.scale = columnsOf(factor, match.rows, broadcasts)))
      root = product;
  if (auto [sum, shift] = onlyUser<stablehlo::AddOp>(root); sum)
    if ((match.bias = columnsOf(shift, match.rows, broadcasts)))
      root = sum;
  return root;
}

/// Of rows of bf16 or f16 that are widened, to the conversion of the result, behind which the scale and the
/// shift may come too. The last op of all, whose result is as narrow, or null.
Operation *matchNarrowing(Operation *root, NormMatch &match) {
  mlir::Value x = withoutWidening(match.x);
  std::optional<Narrowing> narrowing = x == match.x ? std::nullopt : Narrowing::of(root->getResult(0));
  if (!narrowing || !narrowing->views.empty() || narrowing->type() != getElementTypeOrSelf(x.getType()))
    return nullptr;
  match.x = x;
  return match.bias ? narrowing->conversion.getOperation() : matchAffine(narrowing->conversion, match);
}

/// The scale and the shift of narrow rows: both narrow, or both of f32.
SmallVector<mlir::Value> narrowFactors(Operation *root, const NormMatch &match) {
  SmallVector<mlir::Value> factors;
  for (mlir::Value each : {match.scale, match.bias})
    if (each)
      factors.push_back(withoutWidening(each));
  auto isWide = [](mlir::Value factor) { return !isNarrow(factor.getType()); };
  OpBuilder builder(root);
  if (llvm::any_of(factors, isWide))
    for (mlir::Value &factor : factors)
      if (!isWide(factor)) {
        auto type = RankedTensorType::get(dimensionsOf(factor), builder.getF32Type());
        factor = stablehlo::ConvertOp::create(builder, root->getLoc(), type, factor);
      }
  return factors;
}

bool fuseNorm(Operation *op) {
  NormMatch match;
  Subgraph subgraph;
  if (!matchCore(op, match, subgraph) || match.rows.columns < 2 || !subgraph.isClosed(op))
    return false;
  if (!match.subtractsMean) {
    Subgraph withMean = subgraph;
    if (mlir::Value x = centered(match.x, match.rows, withMean); x && withMean.isClosed(op)) {
      match.x = x;
      match.subtractsMean = true;
    }
  }
  Operation *root = matchAffine(op, match);
  Operation *narrow = matchNarrowing(root, match);
  Builder builder(op->getContext());
  SmallVector<mlir::Value> operands{match.x};
  if (narrow) {
    llvm::append_range(operands, narrowFactors(narrow, match));
    root = narrow;
  } else {
    for (mlir::Value each : {match.scale, match.bias})
      if (each)
        operands.push_back(each);
  }
  NamedAttribute attributes[] = {
      builder.getNamedAttr("trailing", builder.getI64IntegerAttr(match.rows.trailing)),
      builder.getNamedAttr("epsilon", builder.getF64FloatAttr(match.epsilon)),
      builder.getNamedAttr("subtract_mean", builder.getBoolAttr(match.subtractsMean)),
      builder.getNamedAttr("has_scale", builder.getBoolAttr(bool(match.scale)))};
  replaceByShapedCall(root, "norm", operands, attributes);
  return true;
}

} // namespace

int64_t fuseNorms(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::MulOp, stablehlo::DivOp>(op) && isFloatTensor(op->getResult(0)))
      count += fuseNorm(op);
  });
  return count;
}

} // namespace torchere::cpu
