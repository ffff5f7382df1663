// Finds softmax and its logarithm over the last dimensions.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/pattern.h"

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

} // namespace

int64_t fuseSoftmax(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isFloatTensor(op->getResult(0)))
      return;
    if (auto quotient = dyn_cast<stablehlo::DivOp>(op))
      count += fuseQuotient(quotient);
    else if (auto difference = dyn_cast<stablehlo::SubtractOp>(op))
      count += fuseLogarithm(difference);
  });
  return count;
}

} // namespace torchere::cpu
