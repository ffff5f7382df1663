// Finds softmax and its logarithm over the last dimensions, or along another one.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/kernels/normalization.h"

#include <cmath>

using namespace mlir;

namespace torchere::cpu {

namespace {

struct SoftmaxMatch {
  mlir::Value x;
  RowShape rows;
  mlir::Value isMasked; ///< true in rows of -inf alone, where 0 stands for the largest element
};

/// Whether two tensors have the same rows: they are one, but for reshapes that keep its rows.
bool hasSameRows(mlir::Value a, RowShape shapeOfA, mlir::Value b, RowShape shapeOfB) {
  Subgraph others; // may use the reshapes too
  return a == b ? shapeOfA.trailing == shapeOfB.trailing
                : !ShapedType::isDynamic(shapeOfA.columns) && shapeOfA.columns == shapeOfB.columns &&
                      withoutReshapes(a, others) == withoutReshapes(b, others);
}

/// x - max(x), where the maximum may be replaced by 0 where it is -inf.
bool matchShifted(mlir::Value value, SoftmaxMatch &match, Subgraph &subgraph) {
  auto shifted = subgraph.take<stablehlo::SubtractOp>(value);
  if (!shifted)
    return false;
  match.x = shifted.getLhs();
  mlir::Value most = shifted.getRhs();
  auto skipMasked = [&] {
    auto select = most.getDefiningOp<stablehlo::SelectOp>();
    if (!select || !isSplat(select.getOnTrue(), 0))
      return;
    auto compare = select.getPred().getDefiningOp<stablehlo::CompareOp>();
    if (!compare || compare.getComparisonDirection() != stablehlo::ComparisonDirection::EQ ||
        compare.getLhs() != select.getOnFalse() || !isSplat(compare.getRhs(), -INFINITY))
      return;
    subgraph.add(select);
    subgraph.add(compare);
    match.isMasked = select.getPred();
    most = select.getOnFalse();
  };
  skipMasked();
  most = rowsOf(most, match.rows, subgraph);
  if (!most)
    return false;
  skipMasked();
  RowShape shape;
  mlir::Value operand = reducedRows(most, RowReduction::Maximum, shape, subgraph);
  return operand && hasSameRows(operand, shape, match.x, match.rows);
}

/// The exponentials and their sum by rows.
bool matchExponentials(mlir::Value exponentials, mlir::Value sum, SoftmaxMatch &match, Subgraph &subgraph) {
  mlir::Value operand = reducedRows(sum, RowReduction::Sum, match.rows, subgraph);
  if (operand && operand != exponentials)
    operand = withoutWidening(operand, subgraph);
  auto exponential = subgraph.take<stablehlo::ExpOp>(exponentials);
  return operand == exponentials && exponential && match.rows.columns != 0 &&
         matchShifted(exponential.getOperand(), match, subgraph);
}

/// Of any count of trailing dimensions, which is known only further inside.
struct SpreadRows {
  mlir::Value rows;
  int64_t trailing = 0;
  bool isOpen = false;

  /// With known sizes dimensions of 1 may be among the trailing ones or not.
  bool areOf(RowShape shape) const { return !isOpen || trailing == shape.trailing; }
};
SpreadRows rowsOfAny(mlir::Value value, Subgraph &subgraph) {
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t trailing = 1; trailing <= type.getRank(); ++trailing)
    if (mlir::Value rows = rowsOf(value, {trailing, 0}, subgraph))
      return {rows, trailing, !type.hasStaticShape()};
  return {};
}

void callSoftmax(Operation *root, const SoftmaxMatch &match, bool isLogarithm, bool zeroWhenMasked) {
  Builder builder(root->getContext());
  replaceByShapedCall(root, "softmax", match.x,
                      {builder.getNamedAttr("trailing", builder.getI64IntegerAttr(match.rows.trailing)),
                       builder.getNamedAttr("logarithm", builder.getBoolAttr(isLogarithm)),
                       builder.getNamedAttr("zero_when_masked", builder.getBoolAttr(zeroWhenMasked))});
}

bool fuseQuotient(stablehlo::DivOp root) {
  Subgraph subgraph;
  SoftmaxMatch match;
  SpreadRows sum = rowsOfAny(root.getRhs(), subgraph);
  if (!sum.rows || !matchExponentials(root.getLhs(), sum.rows, match, subgraph) || !sum.areOf(match.rows))
    return false;
  // The one that gives rows without any element zeros instead of NaN.
  if (root->hasOneUse() && match.isMasked)
    if (auto select = dyn_cast<stablehlo::SelectOp>(*root->user_begin());
        select && select.getPred() == match.isMasked && isSplat(select.getOnTrue(), 0) &&
        select.getOnFalse() == root->getResult(0)) {
      subgraph.add(root);
      if (subgraph.isClosed(select)) {
        callSoftmax(select, match, false, true);
        return true;
      }
    }
  if (!subgraph.isClosed(root))
    return false;
  callSoftmax(root, match, false, false);
  return true;
}

bool fuseLogarithm(stablehlo::SubtractOp root) {
  Subgraph subgraph;
  SoftmaxMatch match;
  SpreadRows row = rowsOfAny(root.getRhs(), subgraph);
  auto logarithm = row.rows ? subgraph.take<stablehlo::LogOp>(row.rows) : stablehlo::LogOp();
  if (!logarithm)
    return false;
  mlir::Value exponentials = reducedRows(logarithm.getOperand(), RowReduction::Sum, match.rows, subgraph);
  auto exponential = exponentials ? subgraph.take<stablehlo::ExpOp>(exponentials) : stablehlo::ExpOp();
  if (!exponential || exponential.getOperand() != root.getLhs() || !row.areOf(match.rows) ||
      !matchShifted(root.getLhs(), match, subgraph) || !subgraph.isClosed(root))
    return false;
  callSoftmax(root, match, true, false);
  return true;
}

/// A dimension that is not the last one, and behind which there is enough to fill vectors.
constexpr int64_t kLeastInner = 8;
bool mayGoAcross(mlir::Value value, int64_t dimension) {
  ArrayRef<int64_t> shape = dimensionsOf(value);
  auto behind = static_cast<size_t>(dimension) + 1;
  return cast<RankedTensorType>(value.getType()).hasStaticShape() && llvm::product_of(shape) > 0 &&
         shape[behind - 1] <= kMaxAcrossLength && llvm::product_of(shape.drop_front(behind)) >= kLeastInner;
}

/// Softmax along one dimension that is not the last: of what is x - max(x) there, as `shifted`.
class AcrossMatch {
public:
  AcrossMatch(mlir::Value whole, int64_t dimension) : whole_(whole), dimension_(dimension) {}
  /// The operand of a reduction that the value repeats along the dimension.
  mlir::Value reduced(mlir::Value value, StringRef join, double initial) {
    stablehlo::ReduceOp reduce = repeatedReduction(value, dimension_);
    if (!reduce || reduce->getNumOperands() != 2 || reduce.getDimensions() != ArrayRef(dimension_) ||
        !appliesOnly(reduce->getRegion(0), join) || splatOf(reduce->getOperand(1)) != initial ||
        dimensionsOf(reduce->getOperand(0)) != dimensionsOf(whole_))
      return {};
    addSpread(value, reduce);
    return reduce->getOperand(0);
  }
  /// x, where the value is x less its maximum.
  mlir::Value unshifted(mlir::Value value) {
    auto shifted = subgraph_.take<stablehlo::SubtractOp>(value);
    mlir::Value x = shifted ? shifted.getLhs() : mlir::Value();
    return x && reduced(shifted.getRhs(), "stablehlo.maximum", -INFINITY) == x ? x : mlir::Value();
  }
  stablehlo::ExpOp exponentials(mlir::Value value) { return subgraph_.take<stablehlo::ExpOp>(value); }
  void add(Operation *op) { subgraph_.add(op); }
  bool replace(Operation *root, mlir::Value x, bool isLogarithm) {
    if (!subgraph_.isClosed(root))
      return false;
    Builder builder(root->getContext());
    replaceByShapedCall(root, "softmax_across", x,
                        {builder.getNamedAttr("axis", builder.getI64IntegerAttr(dimension_)),
                         builder.getNamedAttr("logarithm", builder.getBoolAttr(isLogarithm))});
    return true;
  }

private:
  /// All from the reduction to what repeats it.
  void addSpread(mlir::Value value, stablehlo::ReduceOp reduce) {
    for (Operation *op = value.getDefiningOp(); op != reduce; op = op->getOperand(0).getDefiningOp())
      subgraph_.add(op);
    subgraph_.add(reduce);
  }

  mlir::Value whole_;
  int64_t dimension_;
  Subgraph subgraph_;
};

/// exp(x - max(x)) / sum(exp(x - max(x)))
bool fuseQuotientAcross(stablehlo::DivOp root, int64_t dimension) {
  AcrossMatch match(root->getResult(0), dimension);
  mlir::Value summed = match.reduced(root.getRhs(), "stablehlo.add", 0);
  auto exponential = summed && summed == root.getLhs() ? match.exponentials(summed) : stablehlo::ExpOp();
  mlir::Value x = exponential ? match.unshifted(exponential.getOperand()) : mlir::Value();
  return x && match.replace(root, x, false);
}

/// x - max(x) - log(sum(exp(x - max(x)))): the logarithm comes before the sums are repeated.
bool fuseLogarithmAcross(stablehlo::SubtractOp root, int64_t dimension) {
  auto spread = root.getRhs().getDefiningOp<stablehlo::BroadcastInDimOp>();
  auto logarithm = spread ? spread.getOperand().getDefiningOp<stablehlo::LogOp>() : stablehlo::LogOp();
  if (!logarithm)
    return false;
  auto places = spread.getBroadcastDimensions();
  AcrossMatch match(root->getResult(0), dimension);
  match.add(spread);
  match.add(logarithm);
  // What is repeated is the logarithm; its operand is looked for as if that were repeated in its place.
  OpBuilder builder(root);
  auto sums = stablehlo::BroadcastInDimOp::create(builder, root.getLoc(), spread.getType(),
                                                  logarithm.getOperand(), places);
  mlir::Value summed = match.reduced(sums, "stablehlo.add", 0);
  auto exponential = summed ? match.exponentials(summed) : stablehlo::ExpOp();
  mlir::Value x = exponential && exponential.getOperand() == root.getLhs()
                      ? match.unshifted(exponential.getOperand())
                      : mlir::Value();
  bool isFused = x && match.replace(root, x, true);
  if (!isFused)
    sums->erase();
  return isFused;
}

template <class Op> bool fuseAcross(Op root, bool (*fuse)(Op, int64_t)) {
  auto rank = static_cast<int64_t>(dimensionsOf(root->getResult(0)).size());
  for (int64_t dimension = 0; dimension + 1 < rank; ++dimension)
    if (mayGoAcross(root->getResult(0), dimension) && fuse(root, dimension))
      return true;
  return false;
}

/// The transpose of what is reduced that the rows' own one corresponds to, which leaves the last dimension in
/// its place.
stablehlo::TransposeOp transposeOfAll(mlir::Value whole, ArrayRef<int64_t> order) {
  for (Operation *user : whole.getUsers())
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(user)) {
      ArrayRef<int64_t> all = transpose.getPermutation();
      if (all.drop_back() == order && all.back() == static_cast<int64_t>(order.size()))
        return transpose;
    }
  return {};
}

/// transpose(max(x)) by rows, where transpose(x) is needed as well, becomes max(transpose(x)): JAX batches
/// softmax so, where vmap puts the heads that share keys in front.
void reduceTransposed(stablehlo::TransposeOp rows) {
  mlir::Value value = rows.getOperand();
  auto bounded = value.getDefiningOp<stablehlo::MaxOp>(); // maximum(-inf, max(x))
  if (bounded)
    value = splatOf(bounded.getLhs()) ? bounded.getRhs() : bounded.getLhs();
  auto reduce = value.getDefiningOp<stablehlo::ReduceOp>();
  if (!reduce || reduce->getNumResults() != 1 || !value.hasOneUse() || !rows.getOperand().hasOneUse())
    return;
  mlir::Value whole = reduce->getOperand(0);
  int64_t last = static_cast<int64_t>(dimensionsOf(whole).size()) - 1;
  Operation *origin = whole.getDefiningOp();
  if (reduce.getDimensions() != ArrayRef(last) || !origin)
    return;
  stablehlo::TransposeOp all = transposeOfAll(whole, rows.getPermutation());
  std::optional<double> bound =
      bounded ? splatOf(bounded->getOperand(value == bounded.getRhs() ? 0 : 1)) : std::nullopt;
  if (!all || (bounded && !bound))
    return;
  all->moveAfter(origin);
  OpBuilder builder(rows);
  Operation *made = builder.clone(*reduce);
  made->setOperand(0, all->getResult(0));
  made->getResult(0).setType(cast<RankedTensorType>(rows->getResult(0).getType()));
  mlir::Value most = made->getResult(0);
  if (bounded) {
    auto type = cast<RankedTensorType>(most.getType());
    auto element = builder.getFloatAttr(type.getElementType(), *bound);
    mlir::Value least =
        stablehlo::ConstantOp::create(builder, rows.getLoc(), DenseElementsAttr::get(type, element));
    most = stablehlo::MaxOp::create(builder, rows.getLoc(), least, most);
  }
  rows->getResult(0).replaceAllUsesWith(most);
}

} // namespace

int64_t fuseSoftmax(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](stablehlo::TransposeOp rows) {
    if (isFloatTensor(rows->getResult(0)) && cast<RankedTensorType>(rows.getType()).hasStaticShape())
      reduceTransposed(rows);
  });
  function.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isFloatTensor(op->getResult(0)))
      return;
    if (auto quotient = dyn_cast<stablehlo::DivOp>(op))
      count += fuseQuotient(quotient) || fuseAcross(quotient, fuseQuotientAcross);
    else if (auto difference = dyn_cast<stablehlo::SubtractOp>(op))
      count += fuseLogarithm(difference) || fuseAcross(difference, fuseLogarithmAcross);
  });
  return count;
}

} // namespace torchere::cpu
