// Finds x * logistic(x), and the logistic function where it is spelled out.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// x, where the value is 1 + exp(-x).
mlir::Value argumentOfDenominator(mlir::Value value, Subgraph &subgraph) {
  auto sum = subgraph.take<stablehlo::AddOp>(value);
  if (!sum || (!isSplat(sum.getLhs(), 1) && !isSplat(sum.getRhs(), 1)))
    return {};
  auto power = subgraph.take<stablehlo::ExpOp>(isSplat(sum.getRhs(), 1) ? sum.getLhs() : sum.getRhs());
  auto negated = power ? subgraph.take<stablehlo::NegOp>(power.getOperand()) : stablehlo::NegOp();
  return negated ? negated.getOperand() : mlir::Value();
}

/// x, where the value is logistic(x).
mlir::Value argumentOfLogistic(mlir::Value value, Subgraph &subgraph) {
  if (auto logistic = subgraph.take<stablehlo::LogisticOp>(value))
    return logistic.getOperand();
  auto quotient = subgraph.take<stablehlo::DivOp>(value);
  return quotient && isSplat(quotient.getLhs(), 1) ? argumentOfDenominator(quotient.getRhs(), subgraph)
                                                   : mlir::Value();
}

/// x, where the op computes silu(x).
mlir::Value argumentOfSilu(Operation *op) {
  if (auto quotient = dyn_cast<stablehlo::DivOp>(op)) {
    Subgraph subgraph;
    mlir::Value x = argumentOfDenominator(quotient.getRhs(), subgraph);
    return x == quotient.getLhs() && subgraph.isClosed(op) ? x : mlir::Value();
  }
  auto product = dyn_cast<stablehlo::MulOp>(op);
  if (!product)
    return {};
  for (auto [x, gate] :
       {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}}) {
    Subgraph subgraph;
    if (argumentOfLogistic(gate, subgraph) == x && subgraph.isClosed(op))
      return x;
  }
  return {};
}

} // namespace

int64_t fuseSilu(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    mlir::Value x = isa<stablehlo::MulOp, stablehlo::DivOp>(op) && isFloatTensor(op->getResult(0))
                        ? argumentOfSilu(op)
                        : mlir::Value();
    if (!x)
      return;
    replaceByShapedCall(op, "silu", x);
    ++count;
  });
  return count;
}

} // namespace torchere::cpu
