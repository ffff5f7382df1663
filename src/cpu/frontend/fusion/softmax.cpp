// Finds softmax and its logarithm over the last dimensions.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
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
                : shapeOfA.columns == shapeOfB.columns &&
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
  auto exponential = subgraph.take<stablehlo::ExpOp>(exponentials);
  return operand == exponentials && exponential && match.rows.columns > 0 &&
         matchShifted(exponential.getOperand(), match, subgraph);
}

/// Of any count of trailing dimensions: which is known only further inside.
mlir::Value rowsOfAny(mlir::Value value, Subgraph &subgraph) {
  auto rank = cast<RankedTensorType>(value.getType()).getRank();
  for (int64_t trailing = 1; trailing <= rank; ++trailing)
    if (mlir::Value rows = rowsOf(value, {trailing, 0}, subgraph))
      return rows;
  return {};
}

Operation *callSoftmax(Operation *root, const SoftmaxMatch &match, bool isLogarithm, bool zeroWhenMasked) {
  OpBuilder builder(root);
  NamedAttribute attributes[] = {
      builder.getNamedAttr("columns", builder.getI64IntegerAttr(match.rows.columns)),
      builder.getNamedAttr("logarithm", builder.getBoolAttr(isLogarithm)),
      builder.getNamedAttr("zero_when_masked", builder.getBoolAttr(zeroWhenMasked))};
  Operation *call =
      createKernelCall(builder, root->getLoc(), "softmax", root->getResultTypes(), match.x, attributes);
  root->replaceAllUsesWith(call);
  return call;
}

bool fuseQuotient(stablehlo::DivOp root) {
  Subgraph subgraph;
  SoftmaxMatch match;
  mlir::Value sum = rowsOfAny(root.getRhs(), subgraph);
  if (!sum || !matchExponentials(root.getLhs(), sum, match, subgraph))
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
  mlir::Value row = rowsOfAny(root.getRhs(), subgraph);
  auto logarithm = row ? subgraph.take<stablehlo::LogOp>(row) : stablehlo::LogOp();
  if (!logarithm)
    return false;
  mlir::Value exponentials = reducedRows(logarithm.getOperand(), RowReduction::Sum, match.rows, subgraph);
  auto exponential = exponentials ? subgraph.take<stablehlo::ExpOp>(exponentials) : stablehlo::ExpOp();
  if (!exponential || exponential.getOperand() != root.getLhs() ||
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
