// Joins convolutions on blocks and the depthwise ones of their results, as inverted bottlenecks have them:
// what lies in between is the largest of such a network, and is never stored.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"

using namespace mlir;

namespace torchere::cpu {

/// The call of which the depthwise convolution alone reads the result; null if both are no pair.
static Operation *firstOf(Operation *depthwise, Isa isa) {
  if (!isKernelCall(depthwise, "convolution"))
    return nullptr;
  Operation *first = depthwise->getOperand(0).getDefiningOp();
  if (!isKernelCall(first, "convolution") || !first->hasOneUse() ||
      first->getBlock() != depthwise->getBlock())
    return nullptr;
  ConvolutionCall call = convolutionCallIn(first);
  ConvolutionPlan window = convolutionCallIn(depthwise).plan(isa);
  return !call.hasResidual && !call.hasGate && canJoin(call.plan(isa), window) ? first : nullptr;
}

int64_t fuseConvolutionPairs(func::FuncOp function, Isa isa) {
  SmallVector<std::pair<Operation *, Operation *>> pairs;
  function.walk([&](Operation *op) {
    if (Operation *first = firstOf(op, isa))
      pairs.emplace_back(first, op);
  });
  for (auto [first, depthwise] : pairs) {
    OpBuilder builder(depthwise);
    SmallVector<Value> operands(first->getOperands());
    llvm::append_range(operands, depthwise->getOperands().drop_front());
    Operation *pair = createKernelCall(
        builder, depthwise->getLoc(), "convolution_pair", depthwise->getResultTypes(), operands,
        {builder.getNamedAttr("first", KernelAttributes(first).dictionary()),
         builder.getNamedAttr("depthwise", KernelAttributes(depthwise).dictionary())});
    depthwise->replaceAllUsesWith(pair);
    depthwise->erase();
    first->erase();
  }
  return static_cast<int64_t>(pairs.size());
}

} // namespace torchere::cpu
